#include "torture/scf/invoke.h"

#include "torture/scf/choose.h"
#include "torture/scf/events.h"
#include "torture/scf/fail.h"
#include "torture/scf/relay.h"

namespace sd::scf {

namespace {

// One operation in so many is followed by a jiffy of sleep.
constexpr uint32_t kSleepOneIn = 256;

bool wants_object(Prim prim) {
  return prim != Prim::resched && prim != Prim::single_async && prim != Prim::irq_work &&
         prim != Prim::kick_all && prim != Prim::relay;
}

void scf_lock(Invoker* t) {
  if ((&scf_state)->params->use_cpus_read_lock) {
    kernel::cpus_read_lock();
    t->read_locked = true;
  } else if (!patch(Patch::p09)) {
    kernel::preempt_disable();
  }
}

void scf_unlock(Invoker* t) {
  if (t->read_locked) {
    t->read_locked = false;
    kernel::cpus_read_unlock();
  } else if (!patch(Patch::p09)) {
    kernel::preempt_enable();
  }
}

void invoke_resched(const Call& call) {
  smp::resched_cpu(choose(nr_cpu_ids(), choice::op_cpu));
  ++*this_cpu_ptr(scf_invoked_count);
  count_expected(call, 1);
}

void invoke(const Call& call) {
  switch (call.prim) {
    case Prim::resched:
      return invoke_resched(call);
    case Prim::single:
    case Prim::single_wait:
      return invoke_single(call);
    case Prim::single_rpc:
      return invoke_single_rpc(call);
    case Prim::any:
    case Prim::any_wait:
      return invoke_any(call);
    case Prim::single_async:
      return invoke_async(call);
    case Prim::irq_work:
      return invoke_irq_work(call);
    case Prim::on_cpu:
      return invoke_on_cpu(call);
    case Prim::kick_all:
      return smp::kick_all_cpus_sync();
    case Prim::relay:
      return invoke_relay(call);
    default:
      return invoke_many(call);
  }
}

void sleep_after(bool alloc_failed) {
  if (alloc_failed) {
    const auto longwait = static_cast<uint64_t>((&scf_state)->params->longwait);
    kernel::schedule_timeout_interruptible((1 + longwait) * kernel::kHz);
  } else if (choose_rarely(kSleepOneIn, choice::sleep_fuzz)) {
    kernel::schedule_timeout_interruptible(1);
  }
}

}  // namespace

void scftorture_invoke_one(Invoker* t) {
  const ScfState* st = &scf_state;
  if (patch(Patch::v6_17) && t->index < nr_cpu_ids()) scf_drain_pool(t->index);

  const uint64_t w = choose(static_cast<uint32_t>(st->selector.total + 1), choice::op_kind);
  Call call{t, pick(st->selector, w), false, nullptr};
  call.wait = prim_waits(call.prim);
  const bool wants = wants_object(call.prim);
  smp::trace(tp::op_begin, nullptr, static_cast<uint64_t>(call.prim));

  // 6.13 moved the allocation out of the section, for PREEMPT_RT.
  const bool alloc_first = patch(Patch::v6_17);
  if (wants && alloc_first) call.scfcp = scf_alloc(call.prim);
  scf_lock(t);
  if (wants && !alloc_first) call.scfcp = scf_alloc(call.prim);
  const bool alloc_failed = wants && !call.scfcp;
  if (alloc_failed) ++t->stats.n_alloc_errs;

  if (call.prim != Prim::single_rpc || call.scfcp) ++t->stats.n[static_cast<unsigned>(call.prim)];
  ++t->stats.ops;
  invoke(call);
  scf_unlock(t);
  progress_made();

  smp::trace(tp::op_end, nullptr, static_cast<uint64_t>(call.prim));
  sleep_after(alloc_failed);
}

bool pin_intact(const Invoker* t) {
  return t->pinned && !hotplug_since(t->cpu, t->pin_seq) && !(&scf_state)->params->random_shuffle;
}

bool holds_preemption(const Invoker* t) {
  return !t->read_locked && !patch(Patch::p09);
}

void draw_mask(Invoker* t) {
  constexpr unsigned kExact = 16;  // so many CPUs: every set is a draw of its own
  kernel::cpumask_clear(&t->mask);
  const unsigned cpus = nr_cpu_ids();
  if (cpus <= kExact) {
    const uint64_t all = (1ull << cpus) - 1;
    t->mask.bits[0] = all & ~static_cast<uint64_t>(choose(1u << cpus, choice::op_mask));
    return;
  }
  // More: all but a run of them, or only such a run.
  const uint32_t length = choose(cpus, choice::op_mask);
  const uint32_t first = length ? choose(cpus, choice::op_mask) : 0;
  const bool only = length && choose(2, choice::op_mask);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    const bool in_run = (cpu + cpus - first) % cpus < length;
    if (in_run == only) kernel::__cpumask_set_cpu(cpu, &t->mask);
  }
}

void check_read_locked(const Call& call, const View& view) {
  if (!call.t->read_locked) return;
  const unsigned cpu = view_changed(&view);
  if (cpu >= nr_cpu_ids()) return;
  SCF_FAIL(n_errs, "S-I36", prim_name(call.prim),
           "CPU %u went on- or offline while cpus_read_lock was held", cpu);
}

}  // namespace sd::scf
