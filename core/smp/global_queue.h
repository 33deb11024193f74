// smp_call_function_many() as it was from 2.6.32 to 2.6.38 (kernel/smp.c of that time): each CPU
// has one request, a set of CPUs with a count of those to go, on one queue that all CPUs walk. For
// a bug of those days; no oracle sees anything of it, only the torture, the checks of the list, and
// that nothing hangs.
#pragma once

#include "core/smp/smp.h"
#include "core/smp/switches.h"

namespace sd::smp {

static inline bool has_global_queue() {
  return param(Param::global_call_queue) != 0;
}

void global_queue_init();
void global_queue_call(const cpumask* mask, smp_call_func_t func, void* info, bool wait);
// For every request that asks this CPU; interrupts off.
void global_queue_interrupt();

}  // namespace sd::smp
