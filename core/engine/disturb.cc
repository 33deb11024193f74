#include "core/engine/disturb.h"

namespace sd::engine {
namespace {

// Draws before counting: with as many of one class as of the other, 8 misses in a row happen once
// in 256 times, so counting costs nothing on average.
constexpr int kTries = 8;

bool disturbs(const Action& action) {
  return action.cls == ActionClass::disturb;
}

}  // namespace

const Action* any_action(const ActionSet& actions, bool disturbing, Rng& rng) {
  for (int i = 0; i < kTries; ++i) {
    const Action* action = actions.begin() + rng.below(actions.size());
    if (disturbs(*action) == disturbing) return action;
  }
  uint32_t wanted = 0;
  for (const Action& action : actions) wanted += disturbs(action) == disturbing;
  if (wanted == 0) return nullptr;
  uint32_t skip = rng.below(wanted);
  const Action* action = actions.begin();
  while (disturbs(*action) != disturbing || skip-- > 0) ++action;
  return action;
}

}  // namespace sd::engine
