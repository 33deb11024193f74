#include "core/engine/mix.h"

namespace sd::engine {
namespace {

// Known concurrency bugs need 2 to 4 ordered events (Burckhardt et al.), and each further change
// point costs a factor of the length of the execution: beyond 5 a random walk is as good.
constexpr uint32_t kLeastDepth = 2;
constexpr uint32_t kMostDepth = 5;

}  // namespace

void Mix::begin(uint64_t seed) {
  Rng rng(seed);
  switch (rng.below(3)) {
    case 0:
      drawn_ = &random_walk_;
      break;
    case 1:
      pct_.set_depth(kLeastDepth + rng.below(kMostDepth - kLeastDepth + 1));
      drawn_ = &pct_;
      break;
    default:
      drawn_ = &pos_;
      break;
  }
  drawn_->begin(rng.next());
}

}  // namespace sd::engine
