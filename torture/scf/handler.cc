#include "torture/scf/handler.h"

#include "core/kernel/softirq.h"
#include "torture/scf/choose.h"
#include "torture/scf/fail.h"
#include "torture/scf/state.h"

namespace sd::scf {

namespace {

// Any handler, in whatever context: the cleanup has not ended.
void check_not_cleaned(const char* fn) {
  if (!data_race_read(&(&scf_state)->cleaned)) return;
  SCF_FAIL(n_errs, "S-I58", fn, "a handler runs on CPU %u after the cleanup", smp_processor_id());
}

void count_invocation() {
  ++*this_cpu_ptr(scf_invoked_count);
  if (take_plant(Plant::miscount)) ++*this_cpu_ptr(scf_invoked_count);
}

// Not where a caller runs the handler itself: in a task nobody but ksoftirqd would run the softirq.
void raise_softirq_now_and_then(const char* fn) {
  const int one_in = (&scf_state)->params->softirqs;
  if (one_in == 0 || (!kernel::in_hardirq() && !kernel::is_idle_task(kernel::current()))) return;
  if (choose_rarely(static_cast<uint32_t>(one_in), choice::handler_delay))
    kernel::raise_softirq_irqoff(kScfSoftirq, fn);
}

}  // namespace

void scf_enter_handler(const char* fn) {
  check_not_cleaned(fn);
  if (!kernel::irqs_disabled()) {
    SCF_FAIL(n_errs, "scf-irqs-on", fn, "a handler runs on CPU %u with interrupts enabled",
             smp_processor_id());
  }
  count_invocation();
  raise_softirq_now_and_then(fn);
}

void scf_softirq() {
  if (kernel::irqs_disabled() || sd_preempt_count() == 0) {
    SCF_FAIL(n_errs, "scf-softirq", "scf_softirq",
             "a softirq runs on CPU %u with interrupts off or preemption on", smp_processor_id());
  }
}

// In the kernel 1 in 1024 does; here it is to be seen in executions of a few dozen handlers.
void scf_handler_delay(const char* fn) {
  constexpr uint32_t kKinds = 32;
  const uint32_t kind = choose(kKinds, choice::handler_delay);
  if (kind < kKinds - 3) return;
  const int longwait = (&scf_state)->params->longwait;
  if (kind == kKinds - 3) {
    kernel::udelay(choose(64, choice::handler_delay), fn);
  } else if (longwait <= 0) {
    kernel::udelay(choose(256, choice::handler_delay) + 1, fn);
  } else {
    const uint32_t seconds = choose(static_cast<uint32_t>(longwait), choice::handler_delay) + 1;
    sd_delay_ns(seconds * kernel::kHz * kernel::kNsPerJiffy, fn);
  }
}

// The kernel's quirk: any old value that is not zero will do.
void scf_check_in(const scf_check* scfcp, const char* fn) {
  const uint32_t in = kernel::load_marked(&scfcp->scfc_in, sd_relaxed, fn);
  const uint32_t nonce = data_race_read(&scfcp->nonce);
  if (bug(Bug::scfc_in_uninit) ? in != 0 : in == nonce) return;
  SCF_FAIL(
      n_mb_in_errs, "scf-mb-in", fn,
      "Memory-ordering failure, scfs_prim: %d: the handler of %s on CPU %u sees scfc_in %u, not %u",
      static_cast<int>(scfcp->prim), prim_name(scfcp->prim), smp_processor_id(), in, nonce);
}

namespace {

// The handler of a kept object is one of those that the cleanup waits for, until enough have run.
void kept_ran(scf_check* scfcp) {
  const unsigned runs = data_race_read(&scfcp->runs) + 1;
  data_race_write(&scfcp->runs, runs);
  if (runs <= data_race_read(&scfcp->due)) {
    outstanding_done(&(&scf_state)->outstanding);
  } else {
    sd_sync_release(&(&scf_state)->outstanding);
  }
}

// What all handlers with an object do.
void run_with(scf_check* scfcp, const char* fn) {
  scf_check_in(scfcp, fn);
  scf_receiver* receiver = scf_receiver_of(scfcp, smp_processor_id());
  ++receiver->ran;
  scf_handler_delay(fn);
  if (scfcp->scfc_wait) {
    const bool rpc = scfcp->scfc_rpc;
    const uint32_t out = take_plant(Plant::stale_out) ? 0 : data_race_read(&scfcp->nonce);
    kernel::store_marked(&receiver->scfc_out, out, sd_relaxed, fn);
    if (rpc) kernel::complete(&scfcp->scfc_completion, fn);
  } else if (scfcp->scfc_kept) {
    kept_ran(scfcp);
  } else {
    scf_free_from_handler(scfcp, fn);
    outstanding_done(&(&scf_state)->outstanding);
  }
}

}  // namespace

void scf_handler(void* info) {
  scf_enter_handler(__func__);
  auto* scfcp = static_cast<scf_check*>(info);
  if (!scfcp) return scf_handler_delay(__func__);
  scf_assert_live(scfcp, "used", __func__);
  if (take_plant(Plant::run_twice)) ++scf_receiver_of(scfcp, smp_processor_id())->ran;
  run_with(scfcp, __func__);
}

void scf_handler_1(void* info) {
  scf_enter_handler(__func__);
  auto* scfcp = static_cast<scf_check*>(info);
  if (!scfcp) return scf_handler_delay(__func__);
  scf_assert_live(scfcp, "used", __func__);
  const auto cpu = static_cast<int>(smp_processor_id());
  if (cpu != scfcp->scfc_cpu) {
    SCF_FAIL(n_errs, "scf-ste", __func__, "Wanted CPU %d got CPU %d", scfcp->scfc_cpu, cpu);
  }
  if (!scfcp->scfc_wait && take_plant(Plant::lose)) return;
  run_with(scfcp, __func__);
}

void scf_handler_any(void* info) {
  scf_enter_handler(__func__);
  auto* scfcp = static_cast<scf_check*>(info);
  if (!scfcp) return scf_handler_delay(__func__);
  scf_assert_live(scfcp, "used", __func__);
  const unsigned cpu = smp_processor_id();
  if (!(scfcp->mask.bits[cpu / kernel::kBitsPerLong] & kernel::cpumask_bit(cpu))) {
    SCF_FAIL(n_errs, "scf-ste", __func__,
             "smp_call_function_any got CPU %u, which is not in its mask", cpu);
  }
  scfcp->scfc_cpu = static_cast<int>(cpu);
  run_with(scfcp, __func__);
}

void scf_handler_null(void*) {
  scf_enter_handler(__func__);
  scf_handler_delay(__func__);
  outstanding_done(&(&scf_state)->outstanding_null);
}

// The record is shared by all issues of one invoker; two of them may run at a time, on different
// CPUs.
void scf_handler_async(void* info) {
  scf_enter_handler(__func__);
  ++scf_receiver_of(static_cast<scf_check*>(info), smp_processor_id())->ran;
  scf_handler_delay(__func__);
  outstanding_done(&(&scf_state)->outstanding);
}

void scf_irq_work(smp::irq_work*) {
  scf_enter_handler(__func__);
  scf_handler_delay(__func__);
  outstanding_done(&(&scf_state)->outstanding);
}

bool scf_cond(int cpu, void* info) {
  if (kernel::preempt_model_full() && !sd_preempt_count()) {
    SCF_FAIL(n_errs, "S-I11", __func__,
             "the condition is evaluated for CPU %d with preemption enabled", cpu);
  }
  auto* scfcp = static_cast<scf_check*>(info);
  if (!scfcp) return true;
  const auto target = static_cast<unsigned>(cpu);
  ++scf_receiver_of(scfcp, target)->asked;
  return (scfcp->mask.bits[target / kernel::kBitsPerLong] & kernel::cpumask_bit(target)) != 0;
}

void scf_empty_handler(void*) {}

int scf_on_cpu(void* info) {
  check_not_cleaned(__func__);
  count_invocation();
  auto* scfcp = static_cast<scf_check*>(info);
  if (!scfcp) return 1;
  scf_assert_live(scfcp, "used", __func__);
  scf_check_in(scfcp, __func__);
  ++scf_receivers(scfcp)->ran;
  return static_cast<int>(data_race_read(&scfcp->nonce));
}

}  // namespace sd::scf
