// Emptying a CPU's call queue (kernel/smp.c, Linux 6.12).
#pragma once

#include "core/smp/csd.h"

namespace sd::smp {

// Takes the whole queue of this CPU and runs it: SYNC first, then ASYNC and irq_work, then
// wake-ups, each in the order they were queued. Interrupts are off. With warn_cpu_offline,
// complains if there is anything to do on a CPU that is offline.
void __flush_smp_call_function_queue(bool warn_cpu_offline);
// The same from task context: the idle loop after it stopped polling, and the migration stopper.
void flush_smp_call_function_queue();
// IPI entry.
void generic_smp_call_function_single_interrupt();

}  // namespace sd::smp
