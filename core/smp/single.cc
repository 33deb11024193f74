// Calls to one CPU (kernel/smp.c, Linux 6.12; P02, P03; v6.17, v7.x).
#include <cerrno>

#include "core/smp/csd_debug.h"
#include "core/smp/csd_lock.h"
#include "core/smp/queue.h"
#include "core/smp/sched.h"
#include "core/smp/smp.h"
#include "core/smp/trace.h"

namespace sd::smp {
namespace {

bool may_be_queued_to(unsigned cpu) {
  if (bug(Bug::no_online_check)) return true;
  return bug(Bug::enxio_when_inactive) ? cpu_active(cpu) : cpu_online(cpu);
}

// Preemption is off, and the csd locked and filled. This CPU can always be called, offline or not.
int generic_exec_single(unsigned cpu, call_single_data_t* csd) {
  if (cpu == smp_processor_id()) {
    const smp_call_func_t func = csd->func;
    void* info = csd->info;
    // Early, also for a waited call: nobody else knows of its csd.
    csd_lock_record(csd);
    csd_unlock(csd);
    const bool flags = local_irq_save();
    csd_do_func(func, info, nullptr);
    csd_lock_record(nullptr);
    local_irq_restore(flags);
    if (bug(Bug::local_double_unlock)) csd_unlock(csd);
    return 0;
  }
  if (cpu >= nr_cpu_ids() || !may_be_queued_to(cpu)) {
    if (!bug(Bug::h03)) csd_unlock(csd);
    return -ENXIO;
  }
  // The CPU stays online while preemption is off here, and cannot go without draining its queue.
  __smp_call_single_queue(cpu, &csd->node.llist);
  if (bug(Bug::enxio_although_queued) && !cpu_active(cpu)) return -ENXIO;
  return 0;
}

// The csd of a no-wait call. Preemption is off.
call_single_data_t* get_single_csd_data(unsigned cpu) {
  const bool by_target = bug(Bug::dbg_shared_csd) && csdlock_debug_enabled() && cpu < nr_cpu_ids();
  return by_target ? per_cpu_ptr(csd_data, cpu) : this_cpu_ptr(csd_data);
}

// v6.12: this CPU, else one of its node, else any.
unsigned any_of_node_first(const cpumask* mask, unsigned node) {
  for_each_possible_cpu (cpu) {
    if (sd_cpu_to_node(cpu) == node && cpumask_test_cpu(cpu, mask) && cpu_online(cpu)) return cpu;
  }
  return cpumask_any_and(mask, cpu_online_mask());
}

// The CPU for smp_call_function_any(); nr_cpu_ids() if none of the mask is online.
// Preemption is off.
unsigned select_any_cpu(const cpumask* mask, unsigned this_cpu) {
  unsigned cpu = this_cpu;
  if (!cpumask_test_cpu(this_cpu, mask)) {
    const unsigned node = sd_cpu_to_node(this_cpu);
    cpu = patch(Patch::v6_17) ? sched_numa_find_nth_cpu(mask, node) : any_of_node_first(mask, node);
  }
  trace(tp::any_selected, nullptr, cpu);
  return cpu;
}

// Whose section with preemption off a call to one CPU is traced as.
enum class section { own, callers };

void trace_pinned(section section, unsigned this_cpu) {
  if (section == section::own) trace(tp::call_pinned, nullptr, this_cpu);
}

void unpin(section section) {
  if (section == section::own) trace(tp::call_unpinned);
  put_cpu();
}

void wait_for(call_single_data_t* csd) {
  trace(tp::csd_wait_begin, csd);
  csd_lock_wait(csd);
  trace(tp::csd_wait_end, csd);
}

// P03: with a mask, the CPU is chosen here, so that it cannot go offline before it is queued to.
int __smp_call_function_single(int cpu, smp_call_func_t func, void* info, const cpumask* mask,
                               bool wait, section section) {
  call_single_data_t csd_stack{};
  csd_stack.node.u_flags = CSD_FLAG_LOCK | CSD_TYPE_SYNC;

  const unsigned this_cpu = get_cpu();
  trace_pinned(section, this_cpu);
  if (mask) cpu = static_cast<int>(select_any_cpu(mask, this_cpu));
  const auto target = static_cast<unsigned>(cpu);

  // Waiting with interrupts off can deadlock with a CPU that waits for this one.
  WARN_ON_ONCE(cpu_online(this_cpu) && irqs_disabled() && !oops_in_progress);
  // An interrupt might hold up the sender whose IPI it relies on.
  WARN_ON_ONCE(!in_task());

  call_single_data_t* csd = &csd_stack;
  if (wait) {
    trace(tp::csd_locked, csd, target);
  } else {
    csd = get_single_csd_data(target);
    csd_lock(csd, target);
  }
  csd->func = func;
  csd->info = info;
  csd->node.src = static_cast<uint16_t>(this_cpu);
  csd->node.dst = static_cast<uint16_t>(target);

  const bool early = patch(Patch::p02) && !bug(Bug::p02_put_after_wait);
  const bool too_early = bug(Bug::p02_put_before_exec);
  if (too_early) unpin(section);
  const int err = generic_exec_single(target, csd);
  if (err && bug(Bug::enxio_leaks_preempt)) return err;
  // P02: nothing of this CPU is needed any more; a waited call's csd is the caller's own.
  if (early && !too_early) unpin(section);
  if (wait && !bug(Bug::canary)) wait_for(csd);
  if (!early && !too_early) unpin(section);
  return err;
}

}  // namespace

int smp_call_function_single(int cpu, smp_call_func_t func, void* info, bool wait) {
  const call_args args{
      .kind = call_kind::single, .wait = wait, .cpu = cpu, .func = func, .info = info};
  trace(tp::call_begin, &args, static_cast<uint64_t>(args.kind), wait);
  const int err = __smp_call_function_single(cpu, func, info, nullptr, wait, section::own);
  trace(tp::call_end, &args, static_cast<uint32_t>(err));
  return err;
}

// Below P03 the section that chooses is the outer one, and is not left for the wait either.
static int any_select_then_call(const cpumask* mask, smp_call_func_t func, void* info, bool wait) {
  const unsigned this_cpu = get_cpu();
  trace_pinned(section::own, this_cpu);
  const int cpu = static_cast<int>(select_any_cpu(mask, this_cpu));
  if (bug(Bug::h09)) {
    unpin(section::own);
    return __smp_call_function_single(cpu, func, info, nullptr, wait, section::own);
  }
  const int err = __smp_call_function_single(cpu, func, info, nullptr, wait, section::callers);
  unpin(section::own);
  return err;
}

int smp_call_function_any(const cpumask* mask, smp_call_func_t func, void* info, bool wait) {
  const call_args args{
      .kind = call_kind::any, .wait = wait, .mask = mask, .func = func, .info = info};
  trace(tp::call_begin, &args, static_cast<uint64_t>(args.kind), wait);
  const int err = patch(Patch::p03) && !bug(Bug::h09)
                      ? __smp_call_function_single(-1, func, info, mask, wait, section::own)
                      : any_select_then_call(mask, func, info, wait);
  trace(tp::call_end, &args, static_cast<uint32_t>(err));
  return err;
}

static int call_single_async(unsigned cpu, call_single_data_t* csd) {
  // The test is a plain read that races with the unlock of an earlier request, as intended: the
  // owner may be told that the csd is busy when it is just not so any more. The test and the store
  // are not atomic: users of one csd have to see to it that they are not here at once.
  if ((data_race_read_ctrl(&csd->node.u_flags) & CSD_FLAG_LOCK) && !bug(Bug::async_no_busy_check)) {
    return -EBUSY;
  }
  data_race_write(&csd->node.u_flags, CSD_FLAG_LOCK);
  trace(tp::csd_locked, csd, cpu);
  smp_wmb();
  return generic_exec_single(cpu, csd);
}

int smp_call_function_single_async(int cpu, call_single_data_t* csd) {
  const call_args args{.kind = call_kind::single_async, .cpu = cpu, .csd = csd};
  trace(tp::call_begin, &args, static_cast<uint64_t>(args.kind), 0);
  preempt_disable();
  trace(tp::call_pinned, nullptr, smp_processor_id());
  const int err = call_single_async(static_cast<unsigned>(cpu), csd);
  trace(tp::call_unpinned);
  preempt_enable();
  trace(tp::call_end, &args, static_cast<uint32_t>(err));
  return err;
}

}  // namespace sd::smp
