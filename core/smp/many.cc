// Calls to many CPUs (kernel/smp.c, Linux 6.12; P04, P06 to P08; v6.17).
#include "core/kernel/kthread.h"
#include "core/smp/csd_lock.h"
#include "core/smp/global_queue.h"
#include "core/smp/queue.h"
#include "core/smp/smp.h"
#include "core/smp/task_mask.h"
#include "core/smp/trace.h"

namespace sd::smp {
namespace {

// One activation of smp_call_function_many_cond().
struct many_call {
  const cpumask* mask;
  smp_call_func_t func;
  void* info;
  unsigned scf_flags;
  smp_cond_func_t cond_func;
  unsigned this_cpu;
  call_function_data* cfd;  // this_cpu's, also after the task has left it
  cpumask* targets;         // whom to call, and whom to wait for: the task's own, or the CPU's
  bool own_section;         // preemption was disabled here (P06), not by the caller
  bool pinned;              // the section has not ended yet

  bool wait() const { return (scf_flags & SCF_WAIT) != 0; }
};

bool cond_holds(const many_call& call, unsigned cpu) {
  if (!call.cond_func) return true;
  const bool result = call.cond_func(static_cast<int>(cpu), call.info);
  trace(tp::cond_result, nullptr, cpu, result);
  return result;
}

void many_unpin(many_call* call) {
  trace(tp::call_unpinned);
  call->pinned = false;
  if (call->own_section) put_cpu();
}

bool any_remote(const many_call& call) {
  if (patch(Patch::v6_17)) {
    return cpumask_any_and_but(call.mask, cpu_online_mask(), call.this_cpu) < nr_cpu_ids();
  }
  unsigned cpu = cpumask_any_and(call.mask, cpu_online_mask());
  if (cpu == call.this_cpu) {
    cpu = cpumask_any_and_but(call.mask, cpu_online_mask(), call.this_cpu);
  }
  return cpu < nr_cpu_ids();
}

// The CPUs of the mask that are online now, without this one. From here on only this counts.
void many_snapshot(const many_call& call) {
  const cpumask* online = bug(Bug::snapshot_active) ? cpu_active_mask() : cpu_online_mask();
  cpumask_and(call.targets, call.mask, online);
  if (!bug(Bug::many_includes_self)) __cpumask_clear_cpu(call.this_cpu, call.targets);
  trace(tp::snapshot, call.targets);
}

// Locks, fills and queues the csd for one CPU; returns whether that has to be told.
bool many_queue(const many_call& call, unsigned cpu) {
  call_single_data_t* csd = &call.cfd->csd[cpu];
  csd_lock(csd, cpu);
  if (bug(Bug::h08)) {
    put_cpu();
    get_cpu();
  }
  if (bug(Bug::h01) && !cpumask_test_cpu(cpu, call.mask)) return false;
  const bool sync_late = bug(Bug::sync_flag_after_add);
  if (call.wait() && !sync_late) csd_set_flags(csd, CSD_TYPE_SYNC);
  csd->func = call.func;
  csd->info = call.info;
  csd->node.src = static_cast<uint16_t>(call.this_cpu);
  csd->node.dst = static_cast<uint16_t>(cpu);
  const bool was_empty = call_queue_add(cpu, &csd->node.llist);
  if (call.wait() && sync_late) csd_set_flags(csd, CSD_TYPE_SYNC);
  return was_empty;
}

// Queues to all CPUs of the snapshot for which the condition holds, then sends all IPIs that are
// due. Returns whether there is anything to wait for.
bool many_dispatch(many_call* call) {
  cpumask* ipi = call->cfd->cpumask_ipi;
  unsigned nr_cpus = 0;
  unsigned last_cpu = 0;
  bool queued = false;

  many_snapshot(*call);
  cpumask_clear(ipi);
  for_each_cpu (cpu, call->targets) {
    if (!cond_holds(*call, cpu)) {
      __cpumask_clear_cpu(cpu, call->targets);
      continue;
    }
    queued = true;
    if (many_queue(*call, cpu)) {
      __cpumask_set_cpu(cpu, ipi);
      ++nr_cpus;
      last_cpu = cpu;
    }
  }
  if (bug(Bug::p06_put_before_send)) many_unpin(call);

  // None: nothing was queued, or only to queues whose CPU somebody else is telling.
  if (nr_cpus == 1) {
    send_call_function_single_ipi(last_cpu);
  } else if (nr_cpus > 1) {
    send_call_function_ipi_mask(ipi);
  }
  if (bug(Bug::h42) && nr_cpus == 0) return false;
  return queued;
}

bool run_local_sampled(const many_call& call) {
  if (!(call.scf_flags & SCF_RUN_LOCAL)) return false;
  const bool in_mask = cpumask_test_cpu(call.this_cpu, call.mask);
  trace(tp::run_local_sampled, nullptr, in_mask);
  return in_mask;
}

void many_run_local(const many_call& call) {
  const bool flags = local_irq_save();
  csd_do_func(call.func, call.info, nullptr);
  local_irq_restore(flags);
}

void many_wait(const many_call& call) {
  for_each_cpu (cpu, call.targets) {
    if (bug(Bug::cond_asked_twice) && !cond_holds(call, cpu)) continue;
    call_single_data_t* csd = &call.cfd->csd[cpu];
    trace(tp::csd_wait_begin, csd);
    csd_lock_wait(csd);
    trace(tp::csd_wait_end, csd);
  }
}

// P06: whether the wait is preemptible. As posted, only that of a task with a mask of its own
// (P04); as merged, always: who has none is init_task, alone in using the mask of its CPU, or
// cannot be preempted. P06 without P04, which is no state of the series, is taken to mean what the
// rest of P06 says: an early put_cpu(), with the only mask there is.
bool waits_preemptibly(const cpumask* task_mask) {
  if (!patch(Patch::p06)) return false;
  return task_mask || patch(Patch::p06_merged) || !patch(Patch::p04);
}

void smp_call_function_many_cond(const cpumask* mask, smp_call_func_t func, void* info,
                                 unsigned scf_flags, smp_cond_func_t cond_func) {
  cpumask* task_mask = patch(Patch::p04) ? smp_task_ipi_mask(current()) : nullptr;
  const bool own_section = patch(Patch::p06);
  const unsigned this_cpu = own_section ? get_cpu() : smp_processor_id();
  call_function_data* cfd = per_cpu_ptr(cfd_data, this_cpu);
  many_call call{.mask = mask,
                 .func = func,
                 .info = info,
                 .scf_flags = scf_flags,
                 .cond_func = cond_func,
                 .this_cpu = this_cpu,
                 .cfd = cfd,
                 .targets = task_mask ? task_mask : cfd->cpumask_work,
                 .own_section = own_section,
                 .pinned = true};
  trace(tp::call_pinned, nullptr, this_cpu);

  // The caller keeps this CPU, and thereby all others, from going offline.
  if (!own_section) lockdep_assert_preemption_disabled();
  // Waiting with interrupts off can deadlock with a CPU that waits for this one.
  if (cpu_online(this_cpu) && !oops_in_progress) lockdep_assert_irqs_enabled();
  // An interrupt might hold up the sender whose IPI it relies on.
  WARN_ON_ONCE(!in_task());

  // v6.17: whether this CPU is called is looked at only when the others have been.
  const bool sampled_late = patch(Patch::v6_17);
  bool run_local = !sampled_late && run_local_sampled(call);
  const bool run_remote = any_remote(call) && many_dispatch(&call);
  if (sampled_late) run_local = run_local_sampled(call);
  if (run_local && cond_holds(call, this_cpu)) many_run_local(call);

  if (call.pinned && waits_preemptibly(task_mask)) many_unpin(&call);
  if (run_remote && call.wait()) many_wait(call);
  if (call.pinned) many_unpin(&call);
}

// What the calls of this file share; fn is the one of them. `pin`: they keep the CPU themselves.
void call_many(const call_args& args, bool pin, const char* fn = __builtin_FUNCTION()) {
  trace(tp::call_begin, &args, static_cast<uint64_t>(args.kind), args.wait, fn);
  if (pin) preempt_disable(fn);
  smp_call_function_many_cond(args.mask, args.func, args.info,
                              args.scf_flags | (args.wait ? SCF_WAIT : 0), args.cond);
  if (pin) preempt_enable(fn);
  trace(tp::call_end, &args, 0, 0, fn);
}

}  // namespace

void smp_call_function_many(const cpumask* mask, smp_call_func_t func, void* info, bool wait) {
  if (has_global_queue()) return global_queue_call(mask, func, info, wait);
  call_many({.kind = call_kind::many, .wait = wait, .mask = mask, .func = func, .info = info},
            false);
}

void smp_call_function(smp_call_func_t func, void* info, bool wait) {
  call_many({.kind = call_kind::many,
             .wait = wait,
             .mask = cpu_online_mask(),
             .func = func,
             .info = info},
            !patch(Patch::p07));
}

void on_each_cpu_cond_mask(smp_cond_func_t cond_func, smp_call_func_t func, void* info, bool wait,
                           const cpumask* mask) {
  call_many({.kind = call_kind::many,
             .wait = wait,
             .scf_flags = SCF_RUN_LOCAL,
             .mask = mask,
             .func = func,
             .info = info,
             .cond = cond_func},
            !patch(Patch::p08));
}

void on_each_cpu(smp_call_func_t func, void* info, bool wait) {
  on_each_cpu_cond_mask(nullptr, func, info, wait, cpu_online_mask());
}

void on_each_cpu_mask(const cpumask* mask, smp_call_func_t func, void* info, bool wait) {
  on_each_cpu_cond_mask(nullptr, func, info, wait, mask);
}

void on_each_cpu_cond(smp_cond_func_t cond_func, smp_call_func_t func, void* info, bool wait) {
  on_each_cpu_cond_mask(cond_func, func, info, wait, cpu_online_mask());
}

}  // namespace sd::smp
