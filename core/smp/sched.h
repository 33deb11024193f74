// The scheduler's side of cross-CPU calls (kernel/sched/core.c, kernel/sched/topology.c): waking
// idle CPUs without an IPI, wake-ups through the call queue, the nearest CPU.
#pragma once

#include "core/kernel/kthread.h"
#include "core/smp/csd.h"

namespace sd::smp {

// Whether an IPI is needed for cpu to look at its call queue: not if its idle task polls, for then
// NEED_RESCHED, which this sets, does.
bool call_function_single_prep_ipi(unsigned cpu);
// Makes a CPU that idles leave its idle loop once.
void wake_up_if_idle(unsigned cpu);

// Queues a wake-up of p to cpu's call queue; false: the caller activates p itself. At most one
// wake-up of a task is under way at a time.
bool ttwu_queue_wakelist(task_struct* p, unsigned cpu);
// Activates all tasks of a list of wake entries; interrupts off, on the CPU they were queued to.
void sched_ttwu_pending(llist_node* list);

// Teardown of AP_SCHED_STARTING, on the dying CPU inside stop_machine: nobody is left behind.
int sched_cpu_dying(unsigned cpu);

// v6.17: the CPU of `cpus` that is nearest to `node`, the lowest-numbered of these; nr_cpu_ids() if
// none of them is online.
unsigned sched_numa_find_nth_cpu(const cpumask* cpus, unsigned node);

}  // namespace sd::smp
