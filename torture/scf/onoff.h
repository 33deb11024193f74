// The onoff thread of kernel/torture.c: takes CPUs down and up while the invokers call.
#pragma once

#include "torture/scf/state.h"

namespace sd::scf {

void start_onoff();
void collect_onoff(ScfStats* stats);

}  // namespace sd::scf
