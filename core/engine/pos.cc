#include "core/engine/pos.h"

#include <cstdio>
#include <iterator>

#include "core/engine/draw.h"

namespace sd::engine {
namespace {

// All priorities are drawn anew after this many steps per enabled action, so an unlucky event
// waits for 64 times as long as with taking turns. Rarer would end in false livelocks where one
// spins on another; more often would be a random walk, because half of all events wait for less
// than 2 steps per action.
constexpr uint32_t kStepsPerRenewal = 64;

// The rate of disturbances is drawn for the same reason as RandomWalk's.
constexpr uint32_t kStepsPerDisturb[] = {4, 16, 64, 256};

// Taking a lock and waking somebody change what they are about, like a store.
bool writes(OpKind op) {
  return op_writes(op) || op == OpKind::lock || op == OpKind::wake;
}

}  // namespace

void Pos::begin(uint64_t seed) {
  rng_ = Rng(seed);
  priorities_.begin();
  step_ = 0;
  steps_per_disturb_ = kStepsPerDisturb[rng_.below(std::size(kStepsPerDisturb))];
  std::snprintf(description_, sizeof description_, "pos,disturb=1/%u", steps_per_disturb_);
}

uint32_t Pos::pick(const ActionSet& actions) {
  SD_CHECK(actions.capacity() <= PriorityTable::kMaxIds);
  if (++step_ > kStepsPerRenewal * actions.size()) {
    priorities_.begin();
    step_ = 0;
  }
  const Action* next = rng_.below(steps_per_disturb_) == 0 ? any_disturb(actions) : nullptr;
  if (next == nullptr) next = highest(actions);
  if (next == nullptr) next = any_disturb(actions);
  if (next->addr != nullptr) redraw_racing(actions, *next);
  priorities_.set(next->id, 0);
  return actions.index_of(next->id);
}

uint32_t Pos::number(uint32_t n, Purpose purpose) {
  return draw_number(rng_, n, purpose);
}

uint32_t Pos::priority_of(const Action& action) {
  uint32_t priority = priorities_.get(action.id);
  if (priority == 0) {
    priority = static_cast<uint32_t>(rng_.next() >> 32) | 1;
    priorities_.set(action.id, priority);
  }
  return priority;
}

// The pending event of the highest priority; nullptr if all there is would disturb.
const Action* Pos::highest(const ActionSet& actions) {
  const Action* best = nullptr;
  uint32_t best_priority = 0;
  for (const Action& action : actions) {
    if (action.cls == ActionClass::disturb) continue;
    const uint32_t priority = priority_of(action);
    if (priority > best_priority) {
      best = &action;
      best_priority = priority;
    }
  }
  return best;
}

const Action* Pos::any_disturb(const ActionSet& actions) {
  uint32_t seen = 0;
  const Action* chosen = nullptr;
  for (const Action& action : actions) {
    if (action.cls == ActionClass::disturb && rng_.below(++seen) == 0) chosen = &action;
  }
  return chosen;
}

void Pos::redraw_racing(const ActionSet& actions, const Action& taken) {
  for (const Action& action : actions) {
    if (action.addr == taken.addr && (writes(action.op) || writes(taken.op))) {
      priorities_.set(action.id, 0);
    }
  }
}

}  // namespace sd::engine
