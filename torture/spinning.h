// Where an execution that did not end was busy.
#pragma once

#include <string>
#include <vector>

#include "core/engine/trace.h"

namespace sd::torture {

// How many of the last events tell.
inline constexpr uint32_t kSpinningEvents = 1024;

// The function that most of the events are from; of several, the one seen last. The idle loop
// counts only if there is nothing else; "" if no event names a function.
std::string busiest_function(const std::vector<engine::Event>& events);

}  // namespace sd::torture
