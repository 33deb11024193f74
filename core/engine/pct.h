// Probabilistic Concurrency Testing (Burckhardt et al., ASPLOS 2010), for a machine instead of
// threads: the enabled action of the highest priority runs until something higher is enabled;
// priorities are random and change at depth-1 random steps only. A bug that takes d ordered events
// is met with probability >= 1/(n * k^(d-1)), n actions, k steps: what a random walk hardly ever
// does, running one context far while another stands still, is the rule here.
//
// Where this differs from the paper, and why:
//  - An execution is a series of short tests, and nobody knows its length. So the depth-1 steps
//    are drawn anew in every window of `window()` steps, and the window is drawn from 64..16384
//    per execution: from many small changes to one big one.
//  - A `disturb` action stays enabled, so any fixed priority would mean always or never. It is
//    taken instead of the usual change of priority, at half of the change points; otherwise it
//    only runs when nothing else can, and then goes to the very end.
//  - A `deliver` action is a new event each time it is enabled, hence a new priority after each.
//  - What change points have moved down twice goes to the very end until it gets its turn there;
//    an order that nobody has drawn would rule the rest of the execution otherwise.
//  - A context that calls cpu_relax() waits for others: it draws a new priority, and at times the
//    last.
//  - Strict priorities starve, and a hang by starvation would be a false alarm. After kFairAfter
//    steps, what runs is moved to the end every now and then.
#pragma once

#include <array>
#include <cstdint>

#include "core/engine/chooser.h"
#include "core/engine/priority_queue.h"
#include "core/engine/rng.h"

namespace sd::engine {

class Pct final : public Chooser {
 public:
  static constexpr uint32_t kMaxDepth = 64;
  // Four times the largest window: by then the strategy has done what it can, and an execution
  // that is still running either is long, and loses little, or waits for somebody who is starved.
  static constexpr uint64_t kFairAfter = 1u << 16;

  explicit Pct(uint32_t depth) { set_depth(depth); }

  // From the next begin(); 1..kMaxDepth.
  void set_depth(uint32_t depth);

  void begin(uint64_t seed) override;
  uint32_t pick(const ActionSet& actions) override;
  uint32_t number(uint32_t n, Purpose purpose) override;
  const char* description() const override { return description_; }

  uint32_t window() const { return window_; }

 private:
  uint32_t first_priority(const Action& action) const;
  void draw_change_points();
  void move_down(uint32_t id);
  void taken(const Action& action);
  uint32_t last_place();

  Rng rng_;
  uint64_t key_ = 0;  // of first priorities
  PriorityQueue queue_;
  uint32_t depth_ = 1;
  uint32_t window_ = 64;
  uint64_t step_ = 0;                            // picks so far
  uint32_t window_left_ = 0;                     // picks left in the current window
  std::array<uint32_t, kMaxDepth> change_at_{};  // window_left_ at the change points, ascending
  uint32_t changes_left_ = 0;
  uint32_t last_place_ = 0;
  char description_[32] = "pct";
};

}  // namespace sd::engine
