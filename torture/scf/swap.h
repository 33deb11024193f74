// Tasks that keep stopping two CPUs at a time, as NUMA balancing does to swap two tasks
// (migrate_swap() of kernel/sched/core.c).
#pragma once

#include "torture/scf/state.h"

namespace sd::scf {

void start_swappers();
void stop_swappers();

}  // namespace sd::scf
