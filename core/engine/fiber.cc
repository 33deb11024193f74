#include "core/engine/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstring>

#include "core/engine/check.h"
#include "core/engine/sanitizer.h"

namespace sd::engine {

namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Sanitizer instrumentation multiplies frame sizes, and their reports need room of their own.
#if defined(SD_ASAN) || defined(SD_TSAN)
constexpr size_t kStackBytes = 256 * 1024;
#else
constexpr size_t kStackBytes = 64 * 1024;
#endif
constexpr size_t kGuardBytes = 4096;
constexpr size_t kSlotBytes = kStackBytes + kGuardBytes;

struct Handover {
  Fiber* from;
  Fiber* to;
};

}  // namespace

// The moves of a switch, with what each sanitizer has to be told.
struct FiberSwitch {
  static void leave(Fiber* from, Fiber* to) {
    (void)from;
    (void)to;
#if defined(SD_ASAN)
    __sanitizer_start_switch_fiber(&from->asan_fake_stack_, to->stack_, to->stack_size_);
#endif
#if defined(SD_TSAN)
    if (!to->tsan_) to->tsan_ = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(to->tsan_, __tsan_switch_to_fiber_no_sync);
#endif
  }

  static void arrive(Fiber* self, const transfer_t& transfer) {
    auto* handover = static_cast<Handover*>(transfer.data);
    handover->from->context_ = transfer.fctx;
#if defined(SD_ASAN)
    const void* bottom = nullptr;
    size_t size = 0;
    __sanitizer_finish_switch_fiber(self->asan_fake_stack_, &bottom, &size);
    if (!handover->from
             ->stack_) {  // the driver's stack is learnt from the first switch away from it
      handover->from->stack_ = static_cast<char*>(const_cast<void*>(bottom));
      handover->from->stack_size_ = size;
    }
#endif
    self->context_ = nullptr;
  }

  static void main_loop(transfer_t transfer) {
    Fiber* self = static_cast<Handover*>(transfer.data)->to;
    arrive(self, transfer);
    for (;;) {
      self->function_(self->argument_);
      self->pool_
          ->fiber_returned();  // switches away; comes back when start() gave it something new
    }
  }

  static void init(Fiber* fiber) {
    fiber->context_ =
        make_fcontext(fiber->stack_ + fiber->stack_size_, fiber->stack_size_, main_loop);
    fiber->asan_fake_stack_ = nullptr;
  }
};

Fiber* Fiber::driver() {
  static Fiber driver;
#if defined(SD_TSAN)
  if (!driver.tsan_) driver.tsan_ = __tsan_get_current_fiber();
#endif
  return &driver;
}

void Fiber::start(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
}

void Fiber::switch_to(Fiber* from, Fiber* to) {
  Handover handover{from, to};
  void* target = to->context_;
  SD_CHECK(target != nullptr);
  FiberSwitch::leave(from, to);
  const transfer_t transfer = jump_fcontext(static_cast<fcontext_t>(target), &handover);
  FiberSwitch::arrive(from, transfer);
}

void Fiber::reset() {
  unpoison(stack_, stack_size_);
#if defined(SD_TSAN)
  if (tsan_) __tsan_destroy_fiber(tsan_);
  tsan_ = nullptr;
#endif
  FiberSwitch::init(this);
}

Fiber::Impersonate::Impersonate([[maybe_unused]] const Fiber* self,
                                [[maybe_unused]] const Fiber* other)
    : self_(self) {
#if defined(SD_TSAN)
  __tsan_switch_to_fiber(other->tsan_, __tsan_switch_to_fiber_no_sync);
#endif
}

Fiber::Impersonate::~Impersonate() {
#if defined(SD_TSAN)
  __tsan_switch_to_fiber(self_->tsan_, __tsan_switch_to_fiber_no_sync);
#endif
  (void)self_;
}

FiberPool::FiberPool(uint32_t capacity, void (*on_return)())
    : capacity_(capacity), on_return_(on_return), arena_size_(capacity * kSlotBytes) {
  void* arena = mmap(nullptr, arena_size_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  SD_CHECK(arena != MAP_FAILED);
  arena_ = static_cast<char*>(arena);
  fibers_.reserve(capacity);
  free_.reserve(capacity);
}

FiberPool::~FiberPool() {
#if defined(SD_TSAN)
  for (auto& fiber : fibers_) {
    if (fiber->tsan_) __tsan_destroy_fiber(fiber->tsan_);
  }
#endif
  unpoison(arena_, arena_size_);
  munmap(arena_, arena_size_);
}

Fiber* FiberPool::create() {
  if (fibers_.size() == capacity_) return nullptr;
  std::unique_ptr<Fiber> fiber(new Fiber);
  fiber->index_ = static_cast<uint32_t>(fibers_.size());
  char* slot = arena_ + fiber->index_ * kSlotBytes;
  SD_CHECK(mprotect(slot, kGuardBytes, PROT_NONE) == 0);
  fiber->stack_ = slot + kGuardBytes;
  fiber->stack_size_ = kStackBytes;
  fiber->pool_ = this;
  FiberSwitch::init(fiber.get());
  fibers_.push_back(std::move(fiber));
  return fibers_.back().get();
}

Fiber* FiberPool::acquire() {
  if (free_.empty()) return create();
  Fiber* fiber = free_.back();
  free_.pop_back();
  return fiber;
}

void FiberPool::release(Fiber* fiber) {
  free_.push_back(fiber);
}

void FiberPool::abandon(Fiber* fiber) {
  fiber->reset();
  free_.push_back(fiber);
}

void FiberPool::disarrange() {
  // As deep as the code under test gets; the rest stays untouched, and costs nothing.
  constexpr size_t kDirtyBytes = 4096;
  std::reverse(free_.begin(), free_.end());
  garbage_ = static_cast<unsigned char>(garbage_ * 5 + 0x35);
  for (Fiber* fiber : free_) {
    // What a dormant fiber needs lies above its context.
    char* top = static_cast<char*>(fiber->context_);
    const size_t room = static_cast<size_t>(top - fiber->stack_);
    const size_t size = std::min(kDirtyBytes, room);
    std::memset(top - size, garbage_, size);
  }
}

const Fiber* FiberPool::owner_of(const volatile void* p) const {
  const char* q = const_cast<const char*>(static_cast<const volatile char*>(p));
  if (q < arena_ || q >= arena_ + arena_size_) return nullptr;
  const size_t slot = static_cast<size_t>(q - arena_) / kSlotBytes;
  return slot < fibers_.size() ? fibers_[slot].get() : nullptr;
}

}  // namespace sd::engine
