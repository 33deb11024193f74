// Softirqs (kernel/softirq.c): what a CPU has raised runs there when an interrupt ends, with
// interrupts on and preemption off, not nested. There is no ksoftirqd: all that is pending runs
// then, however often it is raised again.
#pragma once

#include "core/kernel/percpu.h"

namespace sd::kernel {

inline constexpr unsigned kSoftirqs = 10;

DECLARE_PER_CPU(uint32_t, softirq_pending);

// Once per process, before any boot.
void open_softirq(unsigned nr, void (*action)(void));
// __raise_softirq_irqoff(): interrupts off. Wakes nobody; whoever calls this outside of an
// interrupt has to see to it that the softirq is run.
void raise_softirq_irqoff(unsigned nr, const char* fn = __builtin_FUNCTION());
static inline uint32_t local_softirq_pending() {
  return *this_cpu_ptr(softirq_pending);
}
// Runs what is pending. Interrupts are off, and are enabled meanwhile.
void do_softirq(const char* fn = __builtin_FUNCTION());
// The end of an interrupt.
void irq_exit();
// A CPU comes up: what it left pending when it went down is lost.
int softirq_cpu_starting(unsigned cpu);

}  // namespace sd::kernel
