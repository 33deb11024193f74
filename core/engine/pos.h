// Partial Order Sampling (Yuan, Yang, Gu, CAV 2018). Each pending event has a random priority and
// the highest goes; what races with it gets a new one, and so does the next event of the same
// action. So orders of events that commute are not counted twice, and each way to resolve the
// races of a short execution is about equally likely. Strong where a random walk spends its steps
// on operations that nobody else could notice.
//
// Where this differs from the paper, and why:
//  - A `disturb` action is always pending and would get its full share of the steps. It does not
//    compete; one in so many steps (drawn per execution) is given to one of them.
//  - An event of priority p waits until everyone else has drawn less than p, in the mean for ever.
//    So all priorities are drawn anew now and then.
#pragma once

#include <cstdint>

#include "core/engine/chooser.h"
#include "core/engine/priority_queue.h"
#include "core/engine/rng.h"

namespace sd::engine {

class Pos final : public Chooser {
 public:
  void begin(uint64_t seed) override;
  uint32_t pick(const ActionSet& actions) override;
  uint32_t number(uint32_t n, Purpose purpose) override;
  const char* description() const override { return description_; }

  // One in how many steps is a `disturb` action, in this execution.
  uint32_t steps_per_disturb() const { return steps_per_disturb_; }

 private:
  uint32_t draw() { return static_cast<uint32_t>(rng_.next() >> 32) | 2; }
  void redraw_racing(const ActionSet& actions, const Action& taken);

  Rng rng_;
  PriorityQueue queue_;
  uint32_t steps_per_disturb_ = 16;
  uint32_t step_ = 0;  // since all priorities were drawn anew
  char description_[32] = "pos";
};

}  // namespace sd::engine
