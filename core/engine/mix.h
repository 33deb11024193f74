// A fresh strategy for each execution, drawn from its seed: no strategy finds every bug, and which
// one finds the next is not known. The default of long runs.
#pragma once

#include "core/engine/chooser.h"
#include "core/engine/pct.h"
#include "core/engine/pos.h"
#include "core/engine/random_walk.h"

namespace sd::engine {

class Mix final : public Chooser {
 public:
  void begin(uint64_t seed) override;
  uint32_t pick(const ActionSet& actions) override { return drawn_->pick(actions); }
  uint32_t number(uint32_t n, Purpose purpose) override { return drawn_->number(n, purpose); }
  // Of the strategy that was drawn.
  const char* description() const override { return drawn_->description(); }

 private:
  RandomWalk random_walk_;
  Pct pct_{2};
  Pos pos_;
  Chooser* drawn_ = &random_walk_;
};

}  // namespace sd::engine
