// Stopping CPUs: their stopper threads spin with interrupts off (include/linux/stop_machine.h).
#pragma once

#include "core/machine/sd.h"

namespace sd::kernel {

using cpu_stop_fn_t = int (*)(void* arg);

// Runs fn(arg) on cpu1 while cpu2, another one, spins too; returns what fn returns, or -ENOENT if
// one of them is not up. Sleeps.
static inline int stop_two_cpus(unsigned cpu1, unsigned cpu2, cpu_stop_fn_t fn, void* arg,
                                const char* name = __builtin_FUNCTION()) {
  return sd_stop_two_cpus(cpu1, cpu2, fn, arg, name);
}

}  // namespace sd::kernel
