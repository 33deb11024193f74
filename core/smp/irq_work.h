// irq_work (kernel/irq_work.c, Linux 6.12, without PREEMPT_RT): functions run in hard interrupt
// context, on this CPU by an interrupt to itself, on others through their call queue.
#pragma once

#include "core/smp/smp.h"

namespace sd::smp {

// Runs what this CPU has queued for itself; interrupts off.
void irq_work_run();
// Runs one work, taken off a list. It may be queued again, or freed, by its own function.
void irq_work_single(llist_node* node);

}  // namespace sd::smp
