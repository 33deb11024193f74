// Fibers: what a context runs on. A pool of them lives as long as the process: stacks,
// ThreadSanitizer fibers and AddressSanitizer fake stacks are dear to make (core/engine is where
// that cost is paid once).
//
// A fiber runs one function after another: start() gives a dormant fiber a function, the first
// switch_to() runs it, and when it returns, `on_return` is called on the fiber's stack and has to
// switch away for good; the fiber is then dormant again. abandon() makes a suspended fiber dormant
// whatever it was doing; nothing on its stack is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sd::engine {

class Fiber {
 public:
  using Function = void (*)(void*);

  // The context that main() runs in; at most one per process at a time.
  static Fiber* driver();

  const char* stack_low() const { return stack_; }
  size_t stack_size() const { return stack_size_; }
  uint32_t index() const { return index_; }

  // Gives a dormant fiber what to run.
  void start(Function function, void* argument);

  // Suspends the running fiber `from` and resumes `to`. Returns when someone switches to `from`.
  // Creates no happens-before edge under ThreadSanitizer.
  static void switch_to(Fiber* from, Fiber* to);

  // Lets ThreadSanitizer take the next calls as made by this fiber, without running it.
  class Impersonate;

 private:
  friend class FiberPool;
  Fiber() = default;
  void reset();

  void* context_ = nullptr;  // where to jump to; null while running
  char* stack_ = nullptr;
  size_t stack_size_ = 0;
  [[maybe_unused]] void* tsan_ = nullptr;
  [[maybe_unused]] void* asan_fake_stack_ = nullptr;
  Function function_ = nullptr;
  void* argument_ = nullptr;
  uint32_t index_ = 0;
  class FiberPool* pool_ = nullptr;

  friend struct FiberSwitch;
};

class Fiber::Impersonate {
 public:
  Impersonate(const Fiber* self, const Fiber* other);
  ~Impersonate();
  Impersonate(const Impersonate&) = delete;
  Impersonate& operator=(const Impersonate&) = delete;

 private:
  const Fiber* self_;
};

class FiberPool {
 public:
  // At most `capacity` fibers; `on_return` is called when a fiber's function has returned.
  FiberPool(uint32_t capacity, void (*on_return)());
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  // A dormant fiber, or nullptr if all are in use.
  Fiber* acquire();
  // The fiber is dormant (its function has returned).
  void release(Fiber* fiber);
  // The fiber is suspended somewhere; it is made dormant and released.
  void abandon(Fiber* fiber);

  // The fiber whose stack holds p, or nullptr; by arithmetic.
  const Fiber* owner_of(const volatile void* p) const;
  // Hands dormant fibers out in the opposite order from now on, and leaves other garbage on what is
  // free of their stacks: for checking that nothing depends on either.
  void disarrange();

  uint32_t created() const { return static_cast<uint32_t>(fibers_.size()); }

  void fiber_returned() { on_return_(); }

 private:
  Fiber* create();

  uint32_t capacity_;
  void (*on_return_)();
  char* arena_ = nullptr;
  size_t arena_size_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  unsigned char garbage_ = 0;
};

}  // namespace sd::engine
