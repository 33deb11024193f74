// The cross-CPU call API (include/linux/smp.h, Linux 6.12 unless a patch switch says otherwise).
#pragma once

#include "core/kernel/rcuwait.h"
#include "core/smp/csd.h"

namespace sd::smp {

// 0, or -ENXIO if cpu is offline or out of range (then func never runs). wait: returns
// after func has run.
int smp_call_function_single(int cpu, smp_call_func_t func, void* info, bool wait);
// csd->func and ->info are the owner's. 0, -EBUSY (locked: nothing changed) or -ENXIO. Any context.
int smp_call_function_single_async(int cpu, call_single_data_t* csd);
// On one CPU of mask, this one if it is in it, else a near one. -ENXIO if none is online.
int smp_call_function_any(const cpumask* mask, smp_call_func_t func, void* info, bool wait);
// On all online CPUs of mask but this one.
void smp_call_function_many(const cpumask* mask, smp_call_func_t func, void* info, bool wait);
void smp_call_function(smp_call_func_t func, void* info, bool wait);
// On all online CPUs of mask for which cond_func (may be null) is true, this one included.
void on_each_cpu_cond_mask(smp_cond_func_t cond_func, smp_call_func_t func, void* info, bool wait,
                           const cpumask* mask);
void on_each_cpu(smp_call_func_t func, void* info, bool wait);
void on_each_cpu_mask(const cpumask* mask, smp_call_func_t func, void* info, bool wait);
void on_each_cpu_cond(smp_cond_func_t cond_func, smp_call_func_t func, void* info, bool wait);
void kick_all_cpus_sync();
void wake_up_all_idle_cpus();
bool cpus_peek_for_pending_ipi(const cpumask* mask);
// Runs fn(par) in process context on cpu; fn's result, or -ENXIO.
int smp_call_on_cpu(unsigned cpu, int (*fn)(void*), void* par, bool phys);
// Scheduler side: request a reschedule of cpu's current task.
void resched_cpu(unsigned cpu);

// irq_work (kernel/irq_work.c). Layout shared with call_single_data.
struct irq_work {
  __call_single_node node;
  void (*func)(irq_work* work);
  struct kernel::rcuwait irqwait;  // who sleeps in irq_work_sync()
};
void init_irq_work(irq_work* work, void (*func)(irq_work*));
bool irq_work_queue(irq_work* work);
bool irq_work_queue_on(irq_work* work, unsigned cpu);
void irq_work_sync(irq_work* work);

// csd-lock debugging: whether some lock is being waited for longer than its timeout.
bool csd_lock_is_stuck();

// Registers the stack with the machine: vectors, idle loop, hotplug callbacks. Once per process.
void register_stack();

}  // namespace sd::smp
