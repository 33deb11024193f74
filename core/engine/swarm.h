// Swarm testing (Groce et al., ISSTA 2012) for schedules: each execution draws which kinds of
// nondeterminism it has, and how much of each. A strategy that always has a little of everything
// never sees what needs a lot of one kind and nothing of another: interrupts that all come late
// while nobody is preempted, one CPU that the host has all but stopped, hotplug that always fails.
//
// Drawn per execution, and said in description():
//  - how often something disturbs, down to hardly ever;
//  - how slow interrupts are: what is slow by n is taken 2^n times less often than what is not;
//  - how slow contexts are, each by a number of its own, drawn anew in every window of steps;
//  - for each kind of tie of the machine, whether it is broken as usual, always calmly, evenly, or
//    always in the least calm way;
//  - for each kind of injected fault, whether it happens at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/engine/chooser.h"
#include "core/engine/rng.h"

namespace sd::engine {

class Swarm final : public Chooser {
 public:
  void begin(uint64_t seed) override;
  uint32_t pick(const ActionSet& actions) override;
  uint32_t number(uint32_t n, Purpose purpose) override;
  const char* description() const override { return description_; }

 private:
  enum class Law : uint8_t { usual, zero, even, last, count_ };

  void draw_laws();
  void describe();
  uint32_t slowness(const Action& action) const;

  Rng rng_;
  uint64_t key_ = 0;  // of what contexts draw in a window
  uint64_t step_ = 0;
  uint32_t steps_per_disturb_ = 16;
  uint32_t slow_interrupts_ = 0;
  uint32_t slow_contexts_ = 0;  // at most
  uint32_t window_shift_ = 0;   // of 2^n steps
  std::array<Law, static_cast<size_t>(Purpose::count_)> laws_{};
  char description_[192] = "swarm";
};

}  // namespace sd::engine
