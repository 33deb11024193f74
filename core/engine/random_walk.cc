#include "core/engine/random_walk.h"

#include <cstdio>
#include <iterator>

#include "core/engine/draw.h"

namespace sd::engine {
namespace {

// How often a step prefers to disturb is itself drawn per execution: a preemption inside a window
// of a few operations needs many of them, but a task that is preempted every few steps never gets
// to the windows that need a long run first. The middle of the set is about the length of one
// operation of the stack under test.
constexpr uint32_t kStepsPerDisturb[] = {4, 16, 64, 256};

// Draws for an action of the wanted class before looking for it: with as many of one class as of
// the other, 8 misses in a row happen once in 256 steps, so the search costs nothing on average.
constexpr int kTries = 8;

bool is_disturb(const Action& action) {
  return action.cls == ActionClass::disturb;
}

// Any action that does not disturb, all alike; any action if all of them do. O(enabled).
uint32_t search_undisturbing(const ActionSet& actions, Rng& rng) {
  uint32_t wanted = 0;
  for (const Action& action : actions) wanted += !is_disturb(action);
  if (wanted == 0) return rng.below(actions.size());
  uint32_t skip = rng.below(wanted);
  const Action* action = actions.begin();
  while (is_disturb(*action) || skip-- > 0) ++action;
  return actions.index_of(action->id);
}

}  // namespace

void RandomWalk::begin(uint64_t seed) {
  rng_ = Rng(seed);
  steps_per_disturb_ = kStepsPerDisturb[rng_.below(std::size(kStepsPerDisturb))];
  std::snprintf(description_, sizeof description_, "random,disturb=1/%u", steps_per_disturb_);
}

uint32_t RandomWalk::pick(const ActionSet& actions) {
  const bool disturb = rng_.below(steps_per_disturb_) == 0;
  uint32_t index = 0;
  for (int i = 0; i < kTries; ++i) {
    index = rng_.below(actions.size());
    if (is_disturb(actions.at(index)) == disturb) return index;
  }
  // Where disturbances are rare among the actions they are rare among the steps too.
  return disturb ? index : search_undisturbing(actions, rng_);
}

uint32_t RandomWalk::number(uint32_t n, Purpose purpose) {
  return draw_number(rng_, n, purpose);
}

}  // namespace sd::engine
