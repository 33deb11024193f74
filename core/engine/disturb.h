// How strategies look for an action that disturbs, or for one that does not.
#pragma once

#include "core/engine/action.h"
#include "core/engine/rng.h"

namespace sd::engine {

// One of all enabled actions that disturb (or of all that do not), each alike; nullptr if there is
// none. O(1) where there are many, O(enabled) where there are few.
const Action* any_action(const ActionSet& actions, bool disturbing, Rng& rng);

}  // namespace sd::engine
