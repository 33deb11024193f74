#include "core/smp/flush.h"

#include "core/kernel/softirq.h"
#include "core/smp/csd_debug.h"
#include "core/smp/csd_lock.h"
#include "core/smp/irq_work.h"
#include "core/smp/sched.h"
#include "core/smp/trace.h"

namespace sd::smp {

DEFINE_KERNEL_GLOBAL(bool, offline_ipi_warned);

namespace {

// The entries taken by one flush, linked and private to it, oldest first.
struct batch {
  llist_node* entry;

  // Takes `node` off; prev is the entry left standing before it, or null. Its successor is given,
  // for node itself may be gone as soon as it has run.
  void unlink(llist_node* node, llist_node* prev, llist_node* next) {
    trace(tp::csd_unlink, node, 0, csd_type(call_node_of(node)));
    if (prev && !bug(Bug::flush_drops_async)) {
      prev->next = next;
    } else {
      entry = next;
    }
  }
};

// The entries first, where the kernel warns first: a WARN may be the end of the execution.
void warn_about_offline(llist_node* entry) {
  for (llist_node* node = entry; node; node = node->next) {
    const unsigned type = csd_type(call_node_of(node));
    switch (type) {
      case CSD_TYPE_ASYNC:
      case CSD_TYPE_SYNC:
      case CSD_TYPE_IRQ_WORK:
        sd_printk("smp: IPI callback %s sent to offline CPU\n",
                  type == CSD_TYPE_IRQ_WORK ? "irq_work" : symbol_name(csd_of(node)->func));
        break;
      case CSD_TYPE_TTWU:
        sd_printk("smp: IPI task-wakeup sent to offline CPU\n");
        break;
      default:
        sd_printk("smp: IPI callback, unknown type %u, sent to offline CPU\n", type);
    }
  }
  WARN(true, "IPI on offline CPU %u\n", smp_processor_id());
}

// A waited request: its csd is on the stack of the waiter, who leaves as soon as it is unlocked.
void run_sync(call_single_data_t* csd) {
  const smp_call_func_t func = csd->func;
  void* info = csd->info;
  csd_lock_record(csd);
  if (bug(Bug::sync_unlock_before)) csd_unlock(csd);
  csd_do_func(func, info, csd);
  if (!bug(Bug::sync_unlock_before)) csd_unlock(csd);
  csd_lock_record(nullptr);
}

// An asynchronous request: its function may free the csd or queue it again.
void run_async(call_single_data_t* csd) {
  const smp_call_func_t func = csd->func;
  void* info = csd->info;
  csd_lock_record(csd);
  if (!bug(Bug::h04)) csd_unlock(csd);
  const bool irqs_on = bug(Bug::flush_irqs_on);
  if (irqs_on) local_irq_enable();
  csd_do_func(func, info, csd);
  if (irqs_on) local_irq_disable();
  if (bug(Bug::h04)) csd_unlock(csd);
  csd_lock_record(nullptr);
}

// The waiters first: they hold up somebody.
void flush_sync(batch* batch) {
  llist_node* prev = nullptr;
  llist_node* next;
  for (llist_node* node = batch->entry; node; node = next) {
    next = node->next;
    if (csd_type(call_node_of(node)) != CSD_TYPE_SYNC) {
      prev = node;
      continue;
    }
    if (bug(Bug::type_read_after_unlock)) {
      run_sync(csd_of(node));
      if (csd_type(call_node_of(node)) == CSD_TYPE_SYNC) batch->unlink(node, prev, next);
      continue;
    }
    batch->unlink(node, prev, next);
    run_sync(csd_of(node));
  }
}

// Then everything else but the wake-ups.
void flush_async(batch* batch) {
  llist_node* prev = nullptr;
  llist_node* next;
  for (llist_node* node = batch->entry; node; node = next) {
    next = node->next;
    const unsigned type = csd_type(call_node_of(node));
    if (type == CSD_TYPE_TTWU) {
      prev = node;
      continue;
    }
    batch->unlink(node, prev, next);
    if (type == CSD_TYPE_ASYNC) {
      run_async(csd_of(node));
    } else if (type == CSD_TYPE_IRQ_WORK) {
      irq_work_single(node);
    }
  }
}

}  // namespace

void __flush_smp_call_function_queue(bool warn_cpu_offline) {
  trace(tp::flush_begin, nullptr, warn_cpu_offline);
  lockdep_assert_irqs_disabled();
  csd_rearm_backtrace();

  llist_node* taken = llist_del_all(this_cpu_ptr(call_single_queue));
  batch batch{bug(Bug::flush_no_reverse) ? taken : llist_reverse_order(taken)};
  trace(tp::flush_taken, batch.entry);

  // Nothing may be left for a CPU that is offline; but if it is, it is run all the same.
  if (warn_cpu_offline && !cpu_online(smp_processor_id()) && !offline_ipi_warned.get() &&
      batch.entry) {
    offline_ipi_warned.get() = true;
    warn_about_offline(batch.entry);
  }

  flush_sync(&batch);
  if (batch.entry) flush_async(&batch);
  // What is left are wake-ups, handed over in one go.
  if (batch.entry) sched_ttwu_pending(batch.entry);
  trace(tp::flush_end);
}

void flush_smp_call_function_queue() {
  if (llist_empty(this_cpu_ptr(call_single_queue))) return;
  const bool flags = local_irq_save();
  __flush_smp_call_function_queue(true);
  // No interrupt ends here that would run what the callbacks have raised.
  if (local_softirq_pending() && !bug(Bug::h05)) kernel::do_softirq();
  local_irq_restore(flags);
}

void generic_smp_call_function_single_interrupt() {
  __flush_smp_call_function_queue(true);
}

}  // namespace sd::smp
