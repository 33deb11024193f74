// Random draws of the torture: all of them are decisions of the chooser.
#pragma once

#include "core/kernel/choose.h"

namespace sd::scf {

using kernel::choice;
using kernel::choose;

// True once in n.
static inline bool choose_rarely(uint32_t n, choice purpose) {
  return choose(n, purpose) == n - 1;
}

}  // namespace sd::scf
