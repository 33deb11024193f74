#include "core/engine/swarm.h"

#include <fmt/format.h>

#include <iterator>

#include "core/engine/disturb.h"
#include "core/engine/draw.h"

namespace sd::engine {
namespace {

// Some values are there twice: the calm ones are what most bugs need of most kinds.
constexpr uint32_t kStepsPerDisturb[] = {4, 16, 64, 256, 4096};
constexpr uint32_t kSlowInterrupts[] = {0, 0, 2, 4, 8};
constexpr uint32_t kSlowContexts[] = {0, 2, 4, 8};

// Windows are of 2^6 to 2^14 steps: about one operation of the stack under test, up to an execution
// of a few hundred.
constexpr uint32_t kSmallestWindowShift = 6;
constexpr uint32_t kWindows = 9;

// Actions looked at before the last of them is taken, slow or not. So nothing waits for ever where
// everything is slow, and a step costs the same whatever the number of actions.
constexpr int kTries = 16;

constexpr Purpose kTies[] = {Purpose::wake_cpu, Purpose::wake_path, Purpose::irq_kept,
                             Purpose::idle_kind};
constexpr Purpose kFaults[] = {Purpose::alloc_fail, Purpose::hotplug_fail, Purpose::disable_fail};

template <size_t n>
uint32_t one_of(const uint32_t (&values)[n], Rng& rng) {
  return values[rng.below(n)];
}

}  // namespace

void Swarm::begin(uint64_t seed) {
  rng_ = Rng(seed);
  key_ = rng_.next();
  step_ = 0;
  steps_per_disturb_ = one_of(kStepsPerDisturb, rng_);
  slow_interrupts_ = one_of(kSlowInterrupts, rng_);
  slow_contexts_ = one_of(kSlowContexts, rng_);
  window_shift_ = kSmallestWindowShift + rng_.below(kWindows);
  draw_laws();
  describe();
}

void Swarm::draw_laws() {
  laws_.fill(Law::usual);
  for (const Purpose tie : kTies) {
    laws_[static_cast<size_t>(tie)] =
        static_cast<Law>(rng_.below(static_cast<uint32_t>(Law::count_)));
  }
  for (const Purpose fault : kFaults) {
    if (rng_.below(2) == 0) laws_[static_cast<size_t>(fault)] = Law::zero;
  }
}

void Swarm::describe() {
  auto out =
      fmt::format_to_n(description_, sizeof description_ - 1,
                       "swarm,disturb=1/{},interrupts=1/{},contexts=1/{}:{}", steps_per_disturb_,
                       1u << slow_interrupts_, 1u << slow_contexts_, 1u << window_shift_)
          .out;
  constexpr const char* kLawNames[] = {"usual", "zero", "even", "last"};
  static_assert(std::size(kLawNames) == static_cast<size_t>(Law::count_));
  for (size_t i = 0; i < laws_.size(); ++i) {
    if (laws_[i] == Law::usual) continue;
    const auto left = static_cast<size_t>(description_ + sizeof description_ - 1 - out);
    out = fmt::format_to_n(out, left, ",{}={}", purpose_name(static_cast<Purpose>(i)),
                           kLawNames[static_cast<size_t>(laws_[i])])
              .out;
  }
  *out = '\0';
}

uint32_t Swarm::pick(const ActionSet& actions) {
  const bool disturb = rng_.below(steps_per_disturb_) == 0;
  ++step_;
  const Action* action = nullptr;
  for (int i = 0; i < kTries; ++i) {
    action = any_action(actions, disturb, rng_);
    if (action == nullptr) action = any_action(actions, !disturb, rng_);
    const uint32_t slow = slowness(*action);
    if (slow == 0 || (rng_.next() >> (64 - slow)) == 0) break;
  }
  return actions.index_of(action->id);
}

// A context that waits is as slow as the slowest: it must not keep the one it waits for from
// running.
uint32_t Swarm::slowness(const Action& action) const {
  if (action.cls == ActionClass::deliver) return slow_interrupts_;
  if (action.cls == ActionClass::disturb || slow_contexts_ == 0) return 0;
  if (action.op == OpKind::relax) return slow_contexts_;
  Rng rng(key_ ^ ((step_ >> window_shift_) * 0xd1342543de82ef95u + action.id));
  return rng.below(slow_contexts_ + 1);
}

uint32_t Swarm::number(uint32_t n, Purpose purpose) {
  switch (laws_[static_cast<size_t>(purpose)]) {
    case Law::zero:
      return 0;
    case Law::even:
      return rng_.below(n);
    case Law::last:
      return n - 1;
    case Law::usual:
    case Law::count_:
      break;
  }
  return draw_number(rng_, n, purpose);
}

}  // namespace sd::engine
