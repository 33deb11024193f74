#include "core/engine/pct.h"

#include <cstdio>

#include "core/engine/disturb.h"
#include "core/engine/draw.h"

namespace sd::engine {
namespace {

// Bands of priorities. High: what never lost its place. Middle: what a change point has moved down
// once, and disturbances not taken yet. Below: last places, given out downwards.
constexpr uint32_t kHigh = 1u << 31;
constexpr uint32_t kMiddle = 1u << 30;

// Windows are 64 << 0..8, that is 64 to 16384: about one operation of the stack under test, up to
// an execution of a few hundred.
constexpr uint32_t kSmallestWindow = 64;
constexpr uint32_t kWindows = 9;

// In the fair tail everyone gets this many steps in turn: longer than any loop between two looks
// at what it waits for, short enough that a turn of 1000 contexts is well within a step bound.
constexpr uint32_t kFairSteps = 64;

// A context that spins draws a new place every time, and the very last one at one in so many
// times: what it waits for may be a timer, or somebody who was moved down twice. Fewer would cost
// interleavings in which it sees at once what it waits for, more would cost steps.
constexpr uint32_t kSpins = 16;

}  // namespace

void Pct::set_depth(uint32_t depth) {
  SD_CHECK(depth >= 1 && depth <= kMaxDepth);
  depth_ = depth;
}

void Pct::begin(uint64_t seed) {
  rng_ = Rng(seed);
  key_ = rng_.next();
  queue_.begin();
  window_ = kSmallestWindow << rng_.below(kWindows);
  step_ = 0;
  window_left_ = 0;
  changes_left_ = 0;
  last_place_ = kMiddle;
  std::snprintf(description_, sizeof description_, "pct:%u,window=%u", depth_, window_);
}

uint32_t Pct::pick(const ActionSet& actions) {
  queue_.follow(actions, [this](const Action& action) { return first_priority(action); });
  if (window_left_ == 0) draw_change_points();
  uint32_t next = queue_.top();
  while (changes_left_ > 0 && change_at_[changes_left_ - 1] == window_left_) {
    --changes_left_;
    const Action* disturb = (rng_.next() & 1) != 0 ? any_action(actions, true, rng_) : nullptr;
    if (disturb != nullptr) {
      next = disturb->id;
    } else {
      move_down(next);
      next = queue_.top();
    }
  }
  --window_left_;
  ++step_;
  const uint32_t index = actions.index_of(next);
  taken(actions.at(index));
  return index;
}

void Pct::move_down(uint32_t id) {
  const bool high = queue_.get(id) >= kHigh;
  queue_.set(id, high ? kMiddle | rng_.below(kMiddle) : last_place());
}

void Pct::taken(const Action& action) {
  const bool waits = action.op == OpKind::relax;
  if (action.cls == ActionClass::disturb || (step_ > kFairAfter && step_ % kFairSteps == 0) ||
      (waits && rng_.below(kSpins) == 0)) {
    queue_.set(action.id, last_place());
  } else if (waits) {
    queue_.set(action.id, kMiddle + rng_.below(~kMiddle));
  } else if (action.cls == ActionClass::deliver || queue_.get(action.id) < kMiddle) {
    queue_.set(action.id, kHigh | rng_.below(kHigh));
  }
}

// Depends on the action and the seed, not on when it was seen first.
uint32_t Pct::first_priority(const Action& action) const {
  Rng rng(key_ ^ (action.id * 0xd1342543de82ef95u + 1));
  const uint32_t band = action.cls == ActionClass::disturb ? kMiddle : kHigh;
  return band | rng.below(band);
}

void Pct::draw_change_points() {
  window_left_ = window_;
  changes_left_ = 0;
  while (changes_left_ < depth_ - 1) {
    const uint32_t at = 1 + rng_.below(window_);
    uint32_t i = changes_left_++;
    for (; i > 0 && change_at_[i - 1] > at; --i) change_at_[i] = change_at_[i - 1];
    change_at_[i] = at;
  }
}

uint32_t Pct::number(uint32_t n, Purpose purpose) {
  return draw_number(rng_, n, purpose);
}

uint32_t Pct::last_place() {
  if (last_place_ > 1) --last_place_;
  return last_place_;
}

}  // namespace sd::engine
