// The invoker threads (scftorture_invoker of kernel/scftorture.c).
#pragma once

#include "torture/scf/state.h"

namespace sd::scf {

// Creates all invokers, binds each to its CPU and starts them.
void start_invokers();
// Whoever waits, at the start gate or for a CPU to come back, looks at torture_must_stop() again.
void wake_invokers();
// The CPU is online again.
void wake_parked_invokers(unsigned cpu);

}  // namespace sd::scf
