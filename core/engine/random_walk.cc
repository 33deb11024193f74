#include "core/engine/random_walk.h"

#include <cstdio>
#include <iterator>

#include "core/engine/disturb.h"
#include "core/engine/draw.h"

namespace sd::engine {
namespace {

// How often a step prefers to disturb is itself drawn per execution: a preemption inside a window
// of a few operations needs many of them, but a task that is preempted every few steps never gets
// to the windows that need a long run first. The middle of the set is about the length of one
// operation of the stack under test.
constexpr uint32_t kStepsPerDisturb[] = {4, 16, 64, 256};

}  // namespace

void RandomWalk::begin(uint64_t seed) {
  rng_ = Rng(seed);
  steps_per_disturb_ = kStepsPerDisturb[rng_.below(std::size(kStepsPerDisturb))];
  std::snprintf(description_, sizeof description_, "random,disturb=1/%u", steps_per_disturb_);
}

uint32_t RandomWalk::pick(const ActionSet& actions) {
  const bool disturb = rng_.below(steps_per_disturb_) == 0;
  const Action* action = any_action(actions, disturb, rng_);
  if (action == nullptr) action = any_action(actions, !disturb, rng_);
  return actions.index_of(action->id);
}

uint32_t RandomWalk::number(uint32_t n, Purpose purpose) {
  return draw_number(rng_, n, purpose);
}

}  // namespace sd::engine
