// The call queue of a CPU: adding to it, and telling its CPU (kernel/smp.c, Linux 6.12).
#pragma once

#include "core/smp/csd.h"

namespace sd::smp {

// Adds the node of a csd, an irq_work or a wake-up to cpu's queue; returns whether the queue was
// empty, so that the caller is the one to tell the CPU. Preemption is off from here until it has.
bool call_queue_add(unsigned cpu, llist_node* node);
// Adds the node and tells the CPU if need be. Does not ask whether the CPU is online. Any context.
void __smp_call_single_queue(unsigned cpu, llist_node* node);

// Tells the CPU, by IPI or, if it polls in its idle loop, by NEED_RESCHED.
void send_call_function_single_ipi(unsigned cpu);
void send_call_function_ipi_mask(const cpumask* mask);
void arch_send_call_function_single_ipi(unsigned cpu);

}  // namespace sd::smp
