// The idle loop (kernel/sched/idle.c, Linux 6.12), and the end of a CPU that goes offline.
#pragma once

namespace sd::smp {

// cpu_startup_entry(): runs on the idle task of `cpu` until that goes offline or the machine stops.
void cpu_idle_loop(unsigned cpu);
// The CPU, offline and with interrupts off, tells the one that controls the
// operation that it is gone.
void cpuhp_report_idle_dead(unsigned cpu);

}  // namespace sd::smp
