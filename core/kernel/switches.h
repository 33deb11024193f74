// Switches and parameters of the current scenario, as the stack sees them: one branch, at one
// place, with a name.
#pragma once

#include "core/bugs/bugs.h"
#include "core/kernel/param.h"
#include "core/machine/sd.h"
#include "core/series/series.h"

namespace sd::kernel {

static inline bool patch(series::Patch p) {
  return sd_patch_on(static_cast<unsigned>(p));
}
static inline bool bug(bugs::Bug b) {
  return sd_bug_on(static_cast<unsigned>(b));
}
static inline int64_t param(Param p) {
  return sd_param(static_cast<unsigned>(p));
}

}  // namespace sd::kernel
