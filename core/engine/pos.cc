#include "core/engine/pos.h"

#include <cstdio>

#include "core/engine/disturb.h"
#include "core/engine/draw.h"

namespace sd::engine {
namespace {

// All priorities are drawn anew after this many steps per enabled action, so an unlucky event
// waits for 64 times as long as with taking turns. Rarer would end in false livelocks where one
// spins on another; more often would be a random walk, because half of all events wait for less
// than 2 steps per action.
constexpr uint32_t kStepsPerRenewal = 64;

// The priority of what disturbs: below all that draw() gives.
constexpr uint32_t kDisturb = 1;

// Taking a lock and waking somebody change what they are about, like a store.
bool writes(OpKind op) {
  return op_writes(op) || op == OpKind::lock || op == OpKind::wake;
}

}  // namespace

void Pos::begin(uint64_t seed) {
  rng_ = Rng(seed);
  queue_.begin();
  step_ = 0;
  steps_per_disturb_ = draw_steps_per_disturb(rng_);
  std::snprintf(description_, sizeof description_, "pos,disturb=1/%u", steps_per_disturb_);
}

uint32_t Pos::pick(const ActionSet& actions) {
  if (++step_ > kStepsPerRenewal * actions.size()) {
    queue_.begin();
    step_ = 0;
  }
  queue_.follow(actions, [this](const Action& action) {
    return action.cls == ActionClass::disturb ? kDisturb : draw();
  });
  uint32_t next = queue_.top();
  const bool nothing_else = queue_.get(next) == kDisturb;
  if (nothing_else || rng_.below(steps_per_disturb_) == 0) {
    if (const Action* disturb = any_action(actions, true, rng_)) next = disturb->id;
  }
  const uint32_t index = actions.index_of(next);
  const Action& taken = actions.at(index);
  if (taken.cls != ActionClass::disturb) {
    queue_.set(next, draw());
    if (taken.addr != nullptr) redraw_racing(actions, taken);
  }
  return index;
}

uint32_t Pos::number(uint32_t n, Purpose purpose) {
  return draw_number(rng_, n, purpose);
}

// The one thing here that looks at all actions; half of all steps, the after-points, have no
// address.
void Pos::redraw_racing(const ActionSet& actions, const Action& taken) {
  for (const Action& action : actions) {
    if (action.addr != taken.addr || action.id == taken.id) continue;
    const bool race = writes(action.op) || writes(taken.op);
    if (race && action.cls != ActionClass::disturb) queue_.set(action.id, draw());
  }
}

}  // namespace sd::engine
