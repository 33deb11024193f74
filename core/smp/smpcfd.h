// The hotplug callbacks of the cross-call stack, and its boot (kernel/smp.c).
#pragma once

namespace sd::smp {

// Before a CPU is brought up, on the controlling CPU: 0 or -ENOMEM.
int smpcfd_prepare_cpu(unsigned cpu);
// Long after it has died, on the controlling CPU.
int smpcfd_dead_cpu(unsigned cpu);
// On the dying CPU, in stop_machine, after it has left the online mask.
int smpcfd_dying_cpu(unsigned cpu);

void call_function_init();

}  // namespace sd::smp
