// Strategies by the names that users type.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/engine/chooser.h"

namespace sd::engine {

// What make_strategy() knows, for help texts and messages.
inline constexpr const char* kStrategySpecs =
    "random, calm, pct:DEPTH (DEPTH 1 to 64), pos, swarm, mix";

// The strategy of that name; or nullptr, and `error` (unless null) is one line for the user.
std::unique_ptr<Chooser> make_strategy(std::string_view spec, std::string* error);

}  // namespace sd::engine
