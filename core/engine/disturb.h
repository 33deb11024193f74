// How strategies look for an action that disturbs, or for one that does not.
#pragma once

#include "core/engine/action.h"
#include "core/engine/rng.h"

namespace sd::engine {

// How often a step prefers to disturb is itself drawn per execution: a preemption inside a window
// of a few operations needs many of them, but a task that is preempted every few steps never gets
// to the windows that need a long run first. The middle of the set is about the length of one
// operation of the stack under test.
uint32_t draw_steps_per_disturb(Rng& rng);

// One of all enabled actions that disturb (or of all that do not), each alike; nullptr if there is
// none. O(1) where there are many, O(enabled) where there are few.
const Action* any_action(const ActionSet& actions, bool disturbing, Rng& rng);

}  // namespace sd::engine
