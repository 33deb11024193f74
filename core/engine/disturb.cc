#include "core/engine/disturb.h"

#include <iterator>

namespace sd::engine {
namespace {

constexpr uint32_t kStepsPerDisturb[] = {4, 16, 64, 256};

// Draws before going through all: with as many of one class as of the other, 8 misses in a row
// happen once in 256 times, so that costs nothing on average.
constexpr int kTries = 8;

bool disturbs(const Action& action) {
  return action.cls == ActionClass::disturb;
}

}  // namespace

uint32_t draw_steps_per_disturb(Rng& rng) {
  return kStepsPerDisturb[rng.below(std::size(kStepsPerDisturb))];
}

const Action* any_action(const ActionSet& actions, bool disturbing, Rng& rng) {
  uint32_t wanted = disturbing ? actions.disturbing() : actions.size() - actions.disturbing();
  if (wanted == 0) return nullptr;
  if (wanted == actions.size()) return actions.begin() + rng.below(wanted);
  for (int i = 0; i < kTries; ++i) {
    const Action* action = actions.begin() + rng.below(actions.size());
    if (disturbs(*action) == disturbing) return action;
  }
  uint32_t skip = rng.below(wanted);
  const Action* action = actions.begin();
  while (disturbs(*action) != disturbing || skip-- > 0) ++action;
  return action;
}

}  // namespace sd::engine
