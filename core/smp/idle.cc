#include "core/smp/idle.h"

#include "core/kernel/choose.h"
#include "core/kernel/kthread.h"
#include "core/smp/flush.h"
#include "core/smp/smp.h"
#include "core/smp/switches.h"

namespace sd::smp {
namespace {

bool need_resched() {
  return (sd_own_flags(__func__) & sd_tif_need_resched) != 0;
}

void __current_set_polling() {
  sd_own_flags_set(sd_tif_polling, __func__);
}

void __current_clr_polling() {
  sd_own_flags_clear(sd_tif_polling, __func__);
}

// With smp_mb__after_atomic() behind it.
void __current_clr_polling_mb() {
  sd_own_flags_clear_mb(sd_tif_polling, __func__);
}

// Sleeping does not watch the flags: who wakes this CPU has to send an IPI from here on, and who
// did not do so has set NEED_RESCHED before.
bool current_clr_polling_and_test() {
  __current_clr_polling_mb();
  return need_resched();
}

// Waits for NEED_RESCHED with interrupts on.
void cpu_idle_poll() {
  const volatile uint32_t* flags = sd_task_flags(current());
  local_irq_enable();
  for (;;) {
    const uint32_t val = sd_own_flags(__func__);
    if ((val & sd_tif_need_resched) || sd_machine_stopping()) return;
    sd_wait_change(flags, val, sizeof(val), 0, __func__);
  }
}

// Sleeps until an interrupt, and takes it.
void cpuidle_idle_call() {
  if (current_clr_polling_and_test()) {
    local_irq_enable();
  } else {
    sd_idle_halt(__func__);
  }
  __current_set_polling();
}

bool cpu_idle_polls() {
  const auto percent = static_cast<uint32_t>(param(Param::idle_poll_percent));
  if (percent == 0) return false;
  return percent >= 100 || choose(100, choice::idle_kind) >= 100 - percent;
}

// The CPU is offline. Returns when it comes up again, for which its idle task starts anew.
void idle_dead(unsigned cpu) {
  if (bug(Bug::dying_flush_in_idle)) __flush_smp_call_function_queue(false);
  cpuhp_report_idle_dead(cpu);
  sd_cpu_dead();
}

// One stay in the idle loop. Returns false when the idle task has to start anew, or end.
bool do_idle(unsigned cpu) {
  __current_set_polling();
  while (!need_resched()) {
    if (sd_machine_stopping()) return false;
    local_irq_disable();
    if (!sd_own_cpu_online(__func__)) {
      idle_dead(cpu);
      return false;
    }
    if (cpu_idle_polls()) {
      cpu_idle_poll();
    } else {
      cpuidle_idle_call();
    }
  }

  if (bug(Bug::polling_flush_early)) flush_smp_call_function_queue();
  // From here on IPIs are sent. What was queued before, relying on NEED_RESCHED, is found now.
  bug(Bug::polling_no_mb) ? __current_clr_polling() : __current_clr_polling_mb();
  if (!bug(Bug::polling_flush_early)) flush_smp_call_function_queue();
  sd_schedule_idle(__func__);
  return true;
}

void cpuhp_complete_idle_dead(void* info) {
  sd_cpuhp_dead_reported(static_cast<unsigned>(reinterpret_cast<uintptr_t>(info)));
}

}  // namespace

void cpuhp_report_idle_dead(unsigned cpu) {
  BUG_ON(sd_cpuhp_get_state(cpu) != sd_cpuhp_ap_offline);
  sd_cpuhp_idle_dead();
  // A call from an offline CPU: by its own csd, which nobody else uses. No RCU here any more, so
  // another CPU has to complete().
  const unsigned first = cpumask_any_and(cpu_online_mask(), cpu_online_mask());
  smp_call_function_single(static_cast<int>(first), cpuhp_complete_idle_dead,
                           reinterpret_cast<void*>(static_cast<uintptr_t>(cpu)), false);
}

void cpu_idle_loop(unsigned cpu) {
  while (!sd_machine_stopping() && do_idle(cpu)) {
  }
}

}  // namespace sd::smp
