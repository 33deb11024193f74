// Calls to several CPUs.
#include "torture/scf/choose.h"
#include "torture/scf/fail.h"
#include "torture/scf/handler.h"
#include "torture/scf/invoke.h"

namespace sd::scf {

namespace {

bool is_cond(Prim prim) {
  return prim == Prim::cond || prim == Prim::cond_wait;
}
bool is_on_each(Prim prim) {
  return prim == Prim::on_each || prim == Prim::on_each_wait;
}
// many and all leave the calling CPU out.
bool leaves_self_out(Prim prim) {
  return !is_cond(prim) && !is_on_each(prim);
}

// Called for a drawn set: the kernel's torture only ever calls all CPUs that are online.
bool is_masked(Prim prim) {
  return is_on_each(prim) || prim == Prim::many || prim == Prim::many_wait;
}

bool mask_has(const kernel::cpumask& mask, unsigned cpu) {
  return (mask.bits[cpu / kernel::kBitsPerLong] & kernel::cpumask_bit(cpu)) != 0;
}

bool calls_all(const Invoker* t) {
  return !t->mask_is_active && kernel::cpumask_weight(&t->mask) == nr_cpu_ids();
}

void make_call(const Call& call, smp::smp_call_func_t func) {
  const kernel::cpumask* mask = call.t->mask_is_active ? kernel::cpu_active_mask()
                                : calls_all(call.t)    ? kernel::cpu_online_mask()
                                                       : &call.t->mask;
  switch (call.prim) {
    case Prim::many:
    case Prim::many_wait: {
      // Until patch 6 the caller has to disable preemption, also with cpus_read_lock held.
      const bool pin = call.t->read_locked && !patch(Patch::p06) && !bug(Bug::scf_many_unpinned);
      if (pin) kernel::preempt_disable();
      smp::smp_call_function_many(mask, func, call.scfcp, call.wait);
      if (pin) kernel::preempt_enable();
      return;
    }
    case Prim::cond:
    case Prim::cond_wait:
      return smp::on_each_cpu_cond(scf_cond, func, call.scfcp, call.wait);
    case Prim::on_each:
    case Prim::on_each_wait:
      if (mask == kernel::cpu_online_mask()) return smp::on_each_cpu(func, call.scfcp, call.wait);
      return smp::on_each_cpu_mask(mask, func, call.scfcp, call.wait);
    default:
      return smp::smp_call_function(func, call.scfcp, call.wait);
  }
}

// The condition was evaluated once for each CPU that was online (S-I11).
void check_asked(const Call& call, const View& view, unsigned cpu, unsigned asked) {
  const Fate fate = view_fate(&view, cpu);
  if (asked <= 1 && (fate == Fate::maybe || (asked == 1) == (fate == Fate::always))) return;
  SCF_FAIL(n_errs, "S-I11", prim_name(call.prim),
           "the condition was evaluated %u times for CPU %u, which was %s", asked, cpu,
           fate == Fate::always  ? "online"
           : fate == Fate::never ? "offline"
                                 : "on its way");
}

// How many CPUs must have been called, and how many more may have been.
struct Reach {
  unsigned must = 0;
  unsigned maybe = 0;
};

// self: the calling CPU; nr_cpu_ids() if it may have been any.
Reach find_fates(const Call& call, const View& view, unsigned self) {
  scf_check* scfcp = call.scfcp;
  const bool masked = is_masked(call.prim);
  const bool skip_self = leaves_self_out(call.prim);
  Reach reach;
  for (unsigned cpu = 0; cpu < nr_cpu_ids(); ++cpu) {
    Fate fate = view_fate(&view, cpu);
    // It leaves the mask of active CPUs long before it is offline, and joins it long after.
    if (call.t->mask_is_active && view_touched(&view, cpu)) fate = Fate::maybe;
    if (skip_self && cpu == self) fate = Fate::never;
    if (masked && !mask_has(call.t->mask, cpu)) fate = Fate::never;
    if (is_cond(call.prim) && scfcp) {
      const unsigned asked = scf_receivers(scfcp)[cpu].asked;
      check_asked(call, view, cpu, asked);
      fate = asked && mask_has(scfcp->mask, cpu) ? Fate::always : Fate::never;
    }
    if (scfcp) scf_receivers(scfcp)[cpu].fate = fate;
    reach.must += fate == Fate::always;
    reach.maybe += fate == Fate::maybe;
  }
  // Where the caller was is not known: one of them may have been left out.
  if (skip_self && self >= nr_cpu_ids()) {
    if (scfcp) scfcp->may_miss = 1;
    if (reach.must) --reach.must;
    ++reach.maybe;
  }
  return reach;
}

// A set of its own, all CPUs, or the active ones: a mask that changes while it is used.
void draw_mask_or_all(Invoker* t) {
  constexpr uint32_t kActiveOneIn = 8;
  const uint32_t kind = choose(kActiveOneIn, choice::op_value);
  t->mask_is_active = kind == kActiveOneIn - 1;
  if (kind >= kActiveOneIn / 2 && !t->mask_is_active) return draw_mask(t);
  kernel::cpumask_setall(&t->mask);
}

// What the kernel's torture demanded up to P09 of a call to all others; `ran` of them did.
void check_somebody_ran(const Call& call, unsigned ran) {
  const bool to_all = leaves_self_out(call.prim) && (!is_masked(call.prim) || calls_all(call.t));
  if (to_all && ran == 0 && !call.t->read_locked && kernel::num_online_cpus() > 1)
    scf_check_out(call.scfcp, 0, "scftorture_invoke_one");
}

// A no-wait call is judged at the end, when all its handlers have run.
void keep(const Call& call, const Reach& reach) {
  ScfState* st = &scf_state;
  scf_check* scfcp = call.scfcp;
  scfcp->next_kept = call.t->kept;
  call.t->kept = scfcp;
  const unsigned runs = data_race_read(&scfcp->runs);
  data_race_write(&scfcp->due, reach.must);
  if (runs < reach.must) outstanding_add(&st->outstanding, static_cast<int>(reach.must - runs));
}

}  // namespace

void invoke_many(const Call& call) {
  Invoker* t = call.t;
  ScfState* st = &scf_state;
  scf_check* scfcp = call.scfcp;
  t->mask_is_active = false;
  if (is_cond(call.prim)) draw_mask(t);
  if (is_masked(call.prim)) draw_mask_or_all(t);
  View view;
  view_begin(&view, t->read_locked);
  const unsigned here = smp_processor_id();
  if (scfcp) {
    scfcp->scfc_kept = !call.wait;
    scfcp->mask = t->mask;
    scf_arm(scfcp);
  }
  make_call(call, scfcp || call.wait ? scf_handler : scf_handler_null);
  check_read_locked(call, view);

  const bool self_known = holds_preemption(t) || pin_intact(t);
  const Reach reach = find_fates(call, view, self_known ? here : nr_cpu_ids());
  if (!call.wait && reach.maybe) data_race_write(&st->inexact, true);
  if (!scfcp) {
    count_expected(call, reach.must);
    t->stats.slack += reach.maybe;
    if (!call.wait) outstanding_add(&st->outstanding_null, static_cast<int>(reach.must));
  } else if (call.wait) {
    const unsigned ran = scf_judge(scfcp, true, "scftorture_invoke_one");
    if (bug(Bug::h12)) check_somebody_ran(call, ran);
    count_expected(call, ran);
    scf_free(scfcp);
  } else {
    keep(call, reach);
  }
}

}  // namespace sd::scf
