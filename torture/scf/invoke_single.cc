// Calls to one CPU.
#include <cerrno>

#include "core/kernel/slab.h"
#include "torture/scf/choose.h"
#include "torture/scf/fail.h"
#include "torture/scf/handler.h"
#include "torture/scf/invoke.h"

namespace sd::scf {

namespace {

// Leaves and re-enters what scf_lock() entered, around something that sleeps.
void pause_lock(const Call& call) {
  if (call.t->read_locked) {
    kernel::cpus_read_unlock();
  } else if (holds_preemption(call.t)) {
    kernel::preempt_enable();
  }
}
void resume_lock(const Call& call) {
  if (call.t->read_locked) {
    kernel::cpus_read_lock();
  } else if (holds_preemption(call.t)) {
    kernel::preempt_disable();
  }
}

// The return value, against what the torture knows of the target.
void check_return(const Call& call, const View& view, unsigned cpu, int ret) {
  check_read_locked(call, view);
  const Fate fate = view_fate(&view, cpu);
  if (ret == -ENXIO && fate == Fate::always) {
    SCF_FAIL(n_errs, "S-I3", prim_name(call.prim),
             "%s refused CPU %u, which was online all the time", prim_name(call.prim), cpu);
  }
  if (ret == 0 && fate == Fate::never) {
    SCF_FAIL(n_errs, "S-I3", prim_name(call.prim),
             "%s accepted CPU %u, which was offline all the time", prim_name(call.prim), cpu);
  }
  if (ret != 0 && ret != -ENXIO) {
    SCF_FAIL(n_errs, "scf-errno", prim_name(call.prim), "%s returned %d", prim_name(call.prim),
             ret);
  }
}

// It has returned 0, and the caller has waited.
void check_single(scf_check* scfcp) {
  if (scf_receivers(scfcp)->ran != 1) {
    SCF_FAIL(n_errs, "scf-count", prim_name(scfcp->prim),
             "%s returned, but its handler ran %d times", prim_name(scfcp->prim),
             scf_receivers(scfcp)->ran);
  }
  scf_check_out(scfcp, 0, "scftorture_invoke_one");
}

// The counter that the cleanup waits for, and the handler that ends the request.
int* outstanding_of(const Call& call) {
  ScfState* st = &scf_state;
  return call.scfcp ? &st->outstanding : &st->outstanding_null;
}

}  // namespace

void invoke_single(const Call& call) {
  scf_check* scfcp = call.scfcp;
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  View view;
  view_begin(&view, call.t->read_locked);
  if (scfcp) {
    scfcp->scfc_cpu = static_cast<int>(take_plant(Plant::wrong_cpu) ? nr_cpu_ids() : cpu);
    scf_arm(scfcp);
  }
  if (!call.wait) outstanding_add(outstanding_of(call), 1);
  const auto func = scfcp || call.wait ? scf_handler_1 : scf_handler_null;
  const int ret = smp::smp_call_function_single(static_cast<int>(cpu), func, scfcp, call.wait);
  check_return(call, view, cpu, ret);
  if (ret) {
    count_offline(call);
    if (!call.wait) outstanding_add(outstanding_of(call), -1);
    if (scfcp) scf_free(scfcp);
    return;
  }
  count_expected(call, 1);
  if (!call.wait || !scfcp) return;
  check_single(scfcp);
  scf_free(scfcp);
}

// A call without waiting, whose handler completes what the caller then waits for.
void invoke_single_rpc(const Call& call) {
  scf_check* scfcp = call.scfcp;
  if (!scfcp) return;
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  View view;
  view_begin(&view, call.t->read_locked);
  scfcp->scfc_cpu = static_cast<int>(cpu);
  kernel::init_completion(&scfcp->scfc_completion);
  scfcp->scfc_rpc = true;
  scf_arm(scfcp);
  const int ret = smp::smp_call_function_single(static_cast<int>(cpu), scf_handler_1, scfcp, false);
  check_return(call, view, cpu, ret);
  if (ret) {
    count_offline(call);
  } else {
    pause_lock(call);
    kernel::wait_for_completion(&scfcp->scfc_completion);
    resume_lock(call);
    count_expected(call, 1);
    check_single(scfcp);
  }
  scf_free(scfcp);
}

void invoke_any(const Call& call) {
  Invoker* t = call.t;
  scf_check* scfcp = call.scfcp;
  draw_mask(t);
  View view;
  view_begin(&view, t->read_locked);
  const unsigned self = smp_processor_id();
  if (scfcp) {
    scfcp->mask = t->mask;
    scf_arm(scfcp);
  }
  if (!call.wait) outstanding_add(outstanding_of(call), 1);
  const auto func = scfcp || call.wait ? scf_handler_any : scf_handler_null;
  const int ret = smp::smp_call_function_any(&t->mask, func, scfcp, call.wait);
  check_read_locked(call, view);
  if (ret) {
    count_offline(call);
    if (!call.wait) outstanding_add(outstanding_of(call), -1);
    // A CPU on its way down or up may be passed over (it is not active), so only the others count.
    for_each_cpu (cpu, &t->mask) {
      if (view_touched(&view, cpu) || view_fate(&view, cpu) != Fate::always) continue;
      SCF_FAIL(n_errs, "S-I7", prim_name(call.prim),
               "%s returned %d, but CPU %u of its mask was online all the time",
               prim_name(call.prim), ret, cpu);
    }
    if (scfcp) scf_free(scfcp);
    return;
  }
  count_expected(call, 1);
  if (!call.wait || !scfcp) return;
  check_single(scfcp);
  const bool self_known = holds_preemption(t) || pin_intact(t);
  const bool in_mask = (t->mask.bits[self / kernel::kBitsPerLong] & kernel::cpumask_bit(self)) != 0;
  if (self_known && in_mask && scfcp->scfc_cpu != static_cast<int>(self)) {
    SCF_FAIL(n_errs, "S-I7", prim_name(call.prim),
             "%s called CPU %d, although CPU %u, its own, is in the mask", prim_name(call.prim),
             scfcp->scfc_cpu, self);
  }
  scf_free(scfcp);
}

// The csd is the invoker's; one that is still queued is left alone (-EBUSY).
void invoke_async(const Call& call) {
  Invoker* t = call.t;
  ScfState* st = &scf_state;
  if (!t->async) {
    t->async = scf_alloc(call.prim);
    if (!t->async) {
      ++t->stats.n_alloc_errs;
      return;
    }
    t->async_csd.func = scf_handler_async;
    t->async_csd.info = t->async;
  }
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  View view;
  view_begin(&view, t->read_locked);
  outstanding_add(&st->outstanding, 1);
  const int ret = smp::smp_call_function_single_async(static_cast<int>(cpu), &t->async_csd);
  if (ret) outstanding_add(&st->outstanding, -1);
  if (ret == -EBUSY) {
    ++t->stats.n_async_busy;
    return;
  }
  check_return(call, view, cpu, ret);
  if (ret) return count_offline(call);
  ++scf_receiver_of(t->async, cpu)->asked;
  count_expected(call, 1);
}

namespace {

// A work of its own, which is freed as soon as irq_work_sync() says that it may be.
void invoke_own_irq_work(const Call& call) {
  ScfState* st = &scf_state;
  auto* work = static_cast<smp::irq_work*>(
      kernel::kmalloc(sizeof(smp::irq_work), kernel::GFP_ATOMIC, "scf_irq_work"));
  if (!work) return;
  smp::init_irq_work(work, scf_irq_work);
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  kernel::preempt_disable();
  if (!is_online(cpu)) {
    count_offline(call);
  } else {
    outstanding_add(&st->outstanding, 1);
    smp::irq_work_queue_on(work, cpu);
    count_expected(call, 1);
  }
  kernel::preempt_enable();
  pause_lock(call);
  smp::irq_work_sync(work);
  kernel::kfree(work);
  resume_lock(call);
}

}  // namespace

// irq_work_queue_on() warns when the CPU is offline: that it is not is the caller's business.
void invoke_irq_work(const Call& call) {
  if (kernel::param(kernel::Param::irq_work_from_tick)) return invoke_own_irq_work(call);
  Invoker* t = call.t;
  ScfState* st = &scf_state;
  if (!t->irq_work_used) {
    smp::init_irq_work(&t->work, scf_irq_work);
    t->irq_work_used = true;
  }
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  kernel::preempt_disable();
  if (!is_online(cpu) && !bug(Bug::irqwork_to_dead)) {
    count_offline(call);
  } else {
    outstanding_add(&st->outstanding, 1);
    if (smp::irq_work_queue_on(&t->work, cpu)) {
      count_expected(call, 1);
    } else {
      outstanding_add(&st->outstanding, -1);
      ++t->stats.n_async_busy;
    }
  }
  kernel::preempt_enable();
}

// Where a CPU's worker runs while that CPU comes or goes is the work queue's affair, so it is not
// checked.
void invoke_on_cpu(const Call& call) {
  scf_check* scfcp = call.scfcp;
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  if (scfcp) scf_arm(scfcp);
  if (holds_preemption(call.t)) kernel::preempt_enable();  // it sleeps
  View view;
  view_begin(&view, call.t->read_locked);
  const int ret = smp::smp_call_on_cpu(cpu, scf_on_cpu, scfcp, false);
  const bool refused = ret == -ENXIO;
  check_return(call, view, cpu, refused ? ret : 0);
  if (holds_preemption(call.t)) kernel::preempt_disable();
  if (refused) {
    count_offline(call);
  } else {
    count_expected(call, 1);
    const int expected = scfcp ? static_cast<int>(data_race_read(&scfcp->nonce)) : 1;
    if (ret != expected || (scfcp && scf_receivers(scfcp)->ran != 1)) {
      SCF_FAIL(n_errs, "scf-count", prim_name(call.prim),
               "smp_call_on_cpu returned %d, not its function's %d", ret, expected);
    }
  }
  if (scfcp) scf_free(scfcp);
}

}  // namespace sd::scf
