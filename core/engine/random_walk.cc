#include "core/engine/random_walk.h"

#include <cstdio>

#include "core/engine/disturb.h"
#include "core/engine/draw.h"

namespace sd::engine {
void RandomWalk::begin(uint64_t seed) {
  rng_ = Rng(seed);
  steps_per_disturb_ = draw_steps_per_disturb(rng_);
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
