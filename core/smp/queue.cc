#include "core/smp/queue.h"

#include "core/smp/csd_lock.h"
#include "core/smp/sched.h"
#include "core/smp/switches.h"
#include "core/smp/trace.h"

namespace sd::smp {

DEFINE_PER_CPU(llist_head, call_single_queue);

bool call_queue_add(unsigned cpu, llist_node* node) {
  trace(tp::csd_queue_cpu, node, cpu, csd_type(call_node_of(node)));
  const sd_order order = bug(Bug::relaxed_llist_add) ? sd_relaxed : sd_full;
  const bool was_empty = llist_add(node, per_cpu_ptr(call_single_queue, cpu), order);
  trace(tp::csd_queued, node, cpu, was_empty);
  return was_empty;
}

// If the queue was not empty, whoever made it so has sent, or is about to send (with preemption
// off, and without waiting for this CPU): its IPI is for us too, since all accesses to the head are
// ordered read-modify-writes.
void __smp_call_single_queue(unsigned cpu, llist_node* node) {
  if (call_queue_add(cpu, node)) send_call_function_single_ipi(cpu);
}

void arch_send_call_function_single_ipi(unsigned cpu) {
  sd_send_ipi(cpu, sd_vec_call_function_single, __func__);
}

static void arch_send_call_function_ipi_mask(const cpumask* mask) {
  const unsigned first = cpumask_first(mask);
  for_each_cpu (cpu, mask) {
    const bool last = cpumask_next(static_cast<int>(cpu), mask) >= nr_cpu_ids();
    if (bug(Bug::mask_ipi_misses_last) && last && cpu != first) break;
    sd_send_ipi(cpu, sd_vec_call_function, __func__);
  }
}

void send_call_function_single_ipi(unsigned cpu) {
  if (call_function_single_prep_ipi(cpu)) arch_send_call_function_single_ipi(cpu);
}

void send_call_function_ipi_mask(const cpumask* mask) {
  arch_send_call_function_ipi_mask(mask);
}

}  // namespace sd::smp
