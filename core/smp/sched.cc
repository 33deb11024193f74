#include "core/smp/sched.h"

#include "core/kernel/cleanup.h"
#include "core/smp/csd_lock.h"
#include "core/smp/queue.h"
#include "core/smp/smp.h"
#include "core/smp/switches.h"
#include "core/smp/task_data.h"
#include "core/smp/trace.h"

namespace sd::smp {
namespace {

uint32_t* task_flags(task_struct* p) {
  return const_cast<uint32_t*>(sd_task_flags(p));
}

// Sets NEED_RESCHED if p polls for it; false: an IPI is needed. The read comes after the caller's
// addition to the call queue, which is fully ordered; the idle loop clears POLLING, then looks at
// it.
bool set_nr_if_polling(task_struct* p) {
  uint32_t val = READ_ONCE(*task_flags(p));
  do {
    if (!(val & sd_tif_polling) && !bug(Bug::polling_not_tested)) return false;
    if (val & sd_tif_need_resched) return true;
  } while (!try_cmpxchg(task_flags(p), &val, val | sd_tif_need_resched));
  return true;
}

// Sets NEED_RESCHED; returns whether p does not poll for it.
bool set_nr_and_not_polling(task_struct* p) {
  const uint64_t old =
      sd_rmw(sd_task_flags(p), sd_or, sd_tif_need_resched, sizeof(uint32_t), sd_full, __func__);
  return !(old & sd_tif_polling);
}

// With interrupts off, as under the lock of cpu's run queue. cpu may switch to another task all the
// same; then p, which is not running there any more, is rescheduled once too often.
void resched_curr(task_struct* p, unsigned cpu) {
  if (READ_ONCE(*task_flags(p)) & sd_tif_need_resched) return;
  if (cpu == smp_processor_id()) {
    sd_rmw(sd_task_flags(p), sd_or, sd_tif_need_resched, sizeof(uint32_t), sd_relaxed, __func__);
    return;
  }
  if (set_nr_and_not_polling(p)) {
    sd_send_ipi(cpu, sd_vec_reschedule, __func__);
  } else {
    trace(tp::wake_idle_without_ipi, nullptr, cpu);
  }
}

// How far apart two nodes are; 0: the same.
unsigned node_distance(unsigned node, unsigned this_cpu, unsigned cpu) {
  return sd_cpu_to_node(cpu) == node ? 0 : sd_cpu_distance(this_cpu, cpu);
}

task_data* task_data_of_wake_entry(llist_node* node) {
  const size_t offset = offsetof(task_data, wake_entry) + offsetof(__call_single_node, llist);
  return reinterpret_cast<task_data*>(reinterpret_cast<char*>(node) - offset);
}

// Only a CPU that takes tasks: one that is active. It may stop being so right after this; but while
// interrupts are off here it stays online, and it does not go offline without draining its queue.
bool ttwu_queue_cond(unsigned cpu) {
  if (!cpu_active(cpu)) return false;
  return cpu != smp_processor_id();
}

}  // namespace

bool call_function_single_prep_ipi(unsigned cpu) {
  if (set_nr_if_polling(sd_idle_task(cpu))) {
    trace(tp::wake_idle_without_ipi, nullptr, cpu);
    return false;
  }
  return true;
}

void resched_cpu(unsigned cpu) {
  guard(irqsave);
  if (cpu_online(cpu) || cpu == smp_processor_id()) resched_curr(sd_curr_task(cpu), cpu);
}

void wake_up_if_idle(unsigned cpu) {
  guard(rcu);
  if (!is_idle_task(sd_curr_task(cpu))) return;
  guard(irqsave);
  task_struct* curr = sd_curr_task(cpu);
  if (is_idle_task(curr)) resched_curr(curr, cpu);
}

bool ttwu_queue_wakelist(task_struct* p, unsigned cpu) {
  if (!ttwu_queue_cond(cpu)) return false;
  trace(tp::ttwu_queue, nullptr, sd_task_id(p), cpu);
  task_data* data = task_data_of(p);
  data->task = p;
  data->wake_entry.u_flags = CSD_TYPE_TTWU;
  __smp_call_single_queue(cpu, &data->wake_entry.llist);
  return true;
}

void sched_ttwu_pending(llist_node* list) {
  llist_node* next;
  for (llist_node* node = list; node; node = next) {
    next = node->next;
    trace(tp::csd_unlink, node, 0, csd_type(call_node_of(node)));
    task_struct* p = task_data_of_wake_entry(node)->task;
    WARN_ON_ONCE(task_cpu(p) != smp_processor_id());
    trace(tp::ttwu_activate, nullptr, sd_task_id(p));
    sd_ttwu_activate(p);
  }
}

// The stopper, which this runs in, is the one task that may be there.
int sched_cpu_dying(unsigned cpu) {
  WARN(sd_nr_running(cpu) != 1 || sd_nr_pinned(cpu) != 0, "Dying CPU not properly vacated!\n");
  return 0;
}

unsigned sched_numa_find_nth_cpu(const cpumask* cpus, unsigned node) {
  guard(rcu);
  // The kernel's hop masks follow the active CPUs; see the quirk.
  const cpumask* numa = bug(Bug::any_numa_inactive) ? cpu_active_mask() : cpu_online_mask();
  cpumask found;
  if (!cpumask_and(&found, cpus, numa)) {
    return bug(Bug::h07) ? cpumask_any_and(numa, numa) : nr_cpu_ids();
  }
  const unsigned this_cpu = smp_processor_id();
  unsigned nearest = cpumask_first(&found);
  for_each_cpu (cpu, &found) {
    if (node_distance(node, this_cpu, cpu) < node_distance(node, this_cpu, nearest)) nearest = cpu;
  }
  return nearest;
}

}  // namespace sd::smp
