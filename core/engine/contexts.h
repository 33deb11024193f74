// Contexts without a machine around them: a few functions that share memory, each step of which the
// Chooser decides. No vCPUs, interrupts, preemption or time; what is left is what memory-model
// tests and measurements of the engine need, at the least cost per step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/chooser.h"
#include "core/engine/fiber.h"
#include "core/engine/memory.h"

namespace sd::engine {

class Contexts {
 public:
  static constexpr uint32_t kMax = 16;
  static constexpr uint64_t kMostSteps = 100'000;
  using Body = void (*)(void* argument);

  Contexts();
  ~Contexts();
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  struct Outcome {
    bool deadlock = false;  // all contexts that are left wait
    bool livelock = false;  // it came to kMostSteps
    uint64_t steps = 0;     // marked accesses, and waits that had to wait
  };
  // Runs body(i's argument) as context i, for each argument, until all have ended or none can go
  // on. `chooser` has begun.
  Outcome run(Chooser& chooser, Body body, const std::vector<void*>& arguments);

  // From a running context. Each is a scheduling point, then the access. Sizes 1, 2, 4, 8.
  uint64_t load(const volatile void* p, unsigned size, Order order) {
    point(OpKind::load, p);
    return memory_.load(current_, p, size, order);
  }
  void store(volatile void* p, uint64_t value, unsigned size, Order order) {
    point(OpKind::store, p);
    memory_.store(current_, p, value, size, order);
    if (waiting_ != 0) wake(p);
  }
  uint64_t exchange(volatile void* p, uint64_t value, unsigned size, Order order) {
    point(OpKind::rmw, p);
    const uint64_t old = memory_.rmw(current_, p, RmwOp::xchg, value, size, order);
    if (waiting_ != 0) wake(p);
    return old;
  }
  bool compare_exchange(volatile void* p, uint64_t* expected, uint64_t desired, unsigned size,
                        Order order) {
    point(OpKind::rmw, p);
    const bool done = memory_.cmpxchg(current_, p, expected, desired, size, order);
    if (done && waiting_ != 0) wake(p);
    return done;
  }
  // After a load that has read `value`, which is not what this context waits for: goes on once the
  // word has been written to. Nobody spins, so an execution has no more steps than it needs.
  void wait(const volatile void* p, unsigned size, uint64_t value);

  uint32_t current() const { return current_; }

 private:
  struct Context {
    Fiber* fiber = nullptr;
    void* argument = nullptr;
    const volatile void* waits_for = nullptr;
    bool ended = false;
  };

  static void entry(void* self);
  static void on_return();

  void point(OpKind op, const volatile void* p) {
    if (++steps_ == kMostSteps) Fiber::switch_to(contexts_[current_].fiber, Fiber::driver());
    actions_.enable(current_, ActionClass::advance, op, p);
    actions_.set_calm(current_);
    go_on();
  }
  // Lets the chooser say who takes the next step, and runs it.
  void go_on() {
    if (actions_.size() == 1) return;
    const uint32_t next = actions_.at(chooser_->pick(actions_)).id;
    if (next != current_) switch_to(next);
  }
  void switch_to(uint32_t next) {
    Fiber* from = contexts_[current_].fiber;
    current_ = next;
    Fiber::switch_to(from, contexts_[next].fiber);
  }
  void leave();  // the running context waits or has ended
  void wake(const volatile void* p);

  FiberPool fibers_;
  Memory memory_;
  ActionSet actions_;
  Chooser* chooser_ = nullptr;
  Body body_ = nullptr;
  Context contexts_[kMax];
  uint32_t count_ = 0;
  uint32_t current_ = 0;
  uint32_t waiting_ = 0;  // how many contexts wait
  uint64_t steps_ = 0;
};

}  // namespace sd::engine
