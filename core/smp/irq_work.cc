#include "core/smp/irq_work.h"

#include "core/kernel/kthread.h"
#include "core/kernel/rcupdate.h"
#include "core/kernel/rcuwait.h"
#include "core/smp/csd_lock.h"
#include "core/smp/queue.h"
#include "core/smp/switches.h"
#include "core/smp/trace.h"

namespace sd::smp {

DEFINE_PER_CPU(llist_head, raised_list);
DEFINE_PER_CPU(llist_head, lazy_list);

namespace {

// PENDING is the lock of a work: who sets it may put the work on a list. If it is set already, the
// run that it stands for sees everything before this.
bool irq_work_claim(irq_work* work) {
  const int claim = static_cast<int>(IRQ_WORK_CLAIMED | CSD_TYPE_IRQ_WORK);
  const int old = atomic_fetch_or(claim, &work->node.a_flags);
  sd_sync_acquire(work);  // the exception that irq_work_single() names
  return !(static_cast<unsigned>(old) & IRQ_WORK_PENDING);
}

// Preemption off.
void __irq_work_queue_local(irq_work* work) {
  const auto flags = static_cast<unsigned>(atomic_read(&work->node.a_flags));
  const bool lazy = (flags & IRQ_WORK_LAZY) != 0;
  llist_head* list = lazy ? this_cpu_ptr(lazy_list) : this_cpu_ptr(raised_list);
  if (!llist_add(&work->node.llist, list)) return;
  // A lazy work waits for the next tick; there is none here, as with NO_HZ, so it is raised too.
  // Where irq_work has no interrupt of its own this one stands for that tick.
  sd_send_ipi(smp_processor_id(), sd_vec_irq_work, __func__);
}

void irq_work_run_list(llist_head* list) {
  BUG_ON(!irqs_disabled());
  if (llist_empty(list)) return;
  llist_node* next;
  for (llist_node* node = llist_del_all(list); node; node = next) {
    next = node->next;
    irq_work_single(node);
  }
}

}  // namespace

void init_irq_work(irq_work* work, void (*func)(irq_work*)) {
  *work = irq_work{};
  work->func = func;
}

bool irq_work_queue(irq_work* work) {
  const bool claimed = irq_work_claim(work);
  trace(tp::irq_work_queue, work, smp_processor_id(), claimed);
  if (!claimed) return false;
  preempt_disable();
  __irq_work_queue_local(work);
  preempt_enable();
  return true;
}

bool irq_work_queue_on(irq_work* work, unsigned cpu) {
  // Only a warning: it is the caller who must keep the CPU online.
  WARN_ON_ONCE(!cpu_online(cpu));
  const bool claimed = irq_work_claim(work);
  trace(tp::irq_work_queue, work, cpu, claimed);
  if (!claimed) return false;
  preempt_disable();
  if (cpu != smp_processor_id()) {
    __smp_call_single_queue(cpu, &work->node.llist);
  } else {
    __irq_work_queue_local(work);
  }
  preempt_enable();
  return true;
}

void irq_work_single(llist_node* node) {
  auto* work = reinterpret_cast<irq_work*>(node);
  // From here on the work may be claimed again, by its own function too.
  const int flags = atomic_read(&work->node.a_flags) & ~static_cast<int>(IRQ_WORK_PENDING);
  // A named exception for race detection: the store that makes the work claimable is relaxed,
  // as in the kernel, so nothing orders the flush's plain accesses to llist.next (its reversal
  // wrote it) before the next owner's plain store to it. By the letter of the memory model
  // that is a data race.
  sd_sync_release(work);
  atomic_set(&work->node.a_flags, flags);
  // Either a claimer sees PENDING clear and queues the work again, or the function sees all that
  // the claimer did before.
  if (!bug(Bug::h17)) smp_mb();
  trace(tp::irq_work_entry, work);
  work->func(work);
  trace(tp::irq_work_exit, work);
  // Not busy any more, unless it was claimed again.
  atomic_cmpxchg(&work->node.a_flags, flags, flags & ~static_cast<int>(IRQ_WORK_BUSY));
  if (param(Param::irq_work_from_tick)) rcuwait_wake_up(&work->irqwait);
}

void irq_work_run() {
  irq_work_run_list(this_cpu_ptr(raised_list));
  irq_work_run_list(this_cpu_ptr(lazy_list));
}

// The kernel's loop has no acquire: the branch orders what the owner stores to the work afterwards.
// Here it is one, for that order and for race detection, which knows of no branches.
void irq_work_sync(irq_work* work) {
  lockdep_assert_irqs_enabled();
  if (param(Param::irq_work_from_tick)) {
    const auto* flags = reinterpret_cast<const unsigned*>(&work->node.a_flags.counter);
    rcuwait_wait_event(&work->irqwait,
                       [flags] { return !(data_race_read(flags) & IRQ_WORK_BUSY); });
    // irq_work_single() wakes by the work, after BUSY was cleared.
    if (!bug(Bug::h18)) synchronize_rcu();
    return;
  }
  smp_cond_load_acquire(&work->node.a_flags.counter, !(VAL & static_cast<int>(IRQ_WORK_BUSY)));
}

}  // namespace sd::smp
