// The end of a torture: scf_torture_cleanup() of kernel/scftorture.c, then what the kernel's
// lacks, a true quiescence, and the checks that need one.
#pragma once

#include "torture/scf/state.h"

namespace sd::scf {

void scf_torture_cleanup();

}  // namespace sd::scf
