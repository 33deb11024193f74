// Decisions that code on the machine asks for itself: workload generators and modelled randomness.
#pragma once

#include "core/machine/sd.h"

namespace sd::kernel {

// Numbers of engine::Purpose (core/engine/chooser.h); choose_test checks that they agree.
enum class choice : unsigned {
  idle_kind = 7,
  op_kind = 11,
  op_cpu = 12,
  op_mask = 13,
  op_value = 14,
  handler_delay = 15,
  sleep_fuzz = 16,
  onoff_cpu = 17,
};

// A number in [0, n); 0 is the calmest.
static inline uint32_t choose(uint32_t n, choice purpose) {
  return sd_choose(n, static_cast<unsigned>(purpose));
}

}  // namespace sd::kernel
