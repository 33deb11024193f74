// P04: the mask in which a task remembers the CPUs that it waits for (smp_task_ipi_mask and its
// allocation in fork; only with CONFIG_PREEMPTION).
#pragma once

#include "core/kernel/kthread.h"
#include "core/smp/csd.h"

namespace sd::smp {

// The task's own mask; null if it has none: without CONFIG_PREEMPTION, and for init_task
// (swapper/0) where masks are allocated. Used by one call of the task at a time.
cpumask* smp_task_ipi_mask(task_struct* task);

// Fork and exit. parent is null for the first task that is not the machine's own, which may play
// init_task. False: out of memory, the fork fails.
bool smp_task_created(task_struct* task, task_struct* parent);
void smp_task_freed(task_struct* task);

}  // namespace sd::smp
