// Every step takes any context or delivery alike; now and then something disturbs. Unbiased and
// cheap, and the best of all strategies on bugs that need many small switches; hopeless where one
// context must run far while another stands still (that is Pct's).
#pragma once

#include <cstdint>

#include "core/engine/chooser.h"
#include "core/engine/rng.h"

namespace sd::engine {

class RandomWalk final : public Chooser {
 public:
  void begin(uint64_t seed) override;
  uint32_t pick(const ActionSet& actions) override;
  uint32_t number(uint32_t n, Purpose purpose) override;
  const char* description() const override { return description_; }

  // One in how many steps prefers a `disturb` action, in this execution.
  uint32_t steps_per_disturb() const { return steps_per_disturb_; }

 private:
  Rng rng_;
  uint32_t steps_per_disturb_ = 16;
  char description_[32] = "random";
};

}  // namespace sd::engine
