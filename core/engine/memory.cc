#include "core/engine/memory.h"

#include "core/engine/sanitizer.h"

#if defined(SD_TSAN)
#include <sanitizer/tsan_interface_atomic.h>
#endif

namespace sd::engine {

namespace {

// The raw accesses. Under ThreadSanitizer they are relaxed atomics that it knows of: they race with
// plain accesses, not with each other, and order nothing by themselves.
template <typename T>
T raw_load(const volatile void* p) {
#if defined(SD_TSAN)
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(__tsan_atomic64_load(static_cast<const volatile __tsan_atomic64*>(p),
                                               __tsan_memory_order_relaxed));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__tsan_atomic32_load(static_cast<const volatile __tsan_atomic32*>(p),
                                               __tsan_memory_order_relaxed));
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__tsan_atomic16_load(static_cast<const volatile __tsan_atomic16*>(p),
                                               __tsan_memory_order_relaxed));
  } else {
    return static_cast<T>(__tsan_atomic8_load(static_cast<const volatile __tsan_atomic8*>(p),
                                              __tsan_memory_order_relaxed));
  }
#else
  return *static_cast<const volatile T*>(p);
#endif
}

template <typename T>
void raw_store(volatile void* p, T value) {
#if defined(SD_TSAN)
  if constexpr (sizeof(T) == 8) {
    __tsan_atomic64_store(static_cast<volatile __tsan_atomic64*>(p),
                          static_cast<__tsan_atomic64>(value), __tsan_memory_order_relaxed);
  } else if constexpr (sizeof(T) == 4) {
    __tsan_atomic32_store(static_cast<volatile __tsan_atomic32*>(p),
                          static_cast<__tsan_atomic32>(value), __tsan_memory_order_relaxed);
  } else if constexpr (sizeof(T) == 2) {
    __tsan_atomic16_store(static_cast<volatile __tsan_atomic16*>(p),
                          static_cast<__tsan_atomic16>(value), __tsan_memory_order_relaxed);
  } else {
    __tsan_atomic8_store(static_cast<volatile __tsan_atomic8*>(p),
                         static_cast<__tsan_atomic8>(value), __tsan_memory_order_relaxed);
  }
#else
  *static_cast<volatile T*>(p) = value;
#endif
}

uint64_t load_sized(const volatile void* p, unsigned size) {
  switch (size) {
    case 8:
      return raw_load<uint64_t>(p);
    case 4:
      return raw_load<uint32_t>(p);
    case 2:
      return raw_load<uint16_t>(p);
    default:
      return raw_load<uint8_t>(p);
  }
}

void store_sized(volatile void* p, uint64_t value, unsigned size) {
  switch (size) {
    case 8:
      return raw_store<uint64_t>(p, value);
    case 4:
      return raw_store<uint32_t>(p, static_cast<uint32_t>(value));
    case 2:
      return raw_store<uint16_t>(p, static_cast<uint16_t>(value));
    default:
      return raw_store<uint8_t>(p, static_cast<uint8_t>(value));
  }
}

uint64_t apply(RmwOp op, uint64_t old, uint64_t operand) {
  switch (op) {
    case RmwOp::xchg:
      return operand;
    case RmwOp::add:
      return old + operand;
    case RmwOp::sub:
      return old - operand;
    case RmwOp::band:
      return old & operand;
    case RmwOp::bor:
      return old | operand;
    case RmwOp::bxor:
      return old ^ operand;
    case RmwOp::andnot:
      return old & ~operand;
  }
  return old;
}

bool orders_loads(Order order) {
  return order == Order::acquire || order == Order::full;
}
bool orders_stores(Order order) {
  return order == Order::release || order == Order::full;
}

}  // namespace

void Memory::reset(unsigned cpus) {
  if (kTsan) edges_.reset(cpus);
}

uint64_t Memory::load(unsigned cpu, const volatile void* p, unsigned size, Order order) {
  const uint64_t value = load_sized(p, size);
  if (kTsan) edges_.loaded(cpu, p, orders_loads(order));
  return value;
}

void Memory::store(unsigned cpu, volatile void* p, uint64_t value, unsigned size, Order order) {
  store_sized(p, value, size);
  if (kTsan)
    edges_.stored(cpu, p, orders_stores(order));  // after it, to publish the store itself too
}

uint64_t Memory::rmw(unsigned cpu, volatile void* p, RmwOp op, uint64_t operand, unsigned size,
                     Order order) {
  if (kTsan) edges_.updating(cpu, p, order);
  const uint64_t old = load_sized(p, size);
  store_sized(p, apply(op, old, operand), size);
  if (kTsan) edges_.updated(cpu, p, order);
  return old;
}

bool Memory::cmpxchg(unsigned cpu, volatile void* p, uint64_t* expected, uint64_t desired,
                     unsigned size, Order order) {
  const uint64_t found = load_sized(p, size);
  const bool equal = found == *expected;
  *expected = found;
  if (!equal) {
    if (kTsan) edges_.loaded(cpu, p, false);
    return false;
  }
  if (kTsan) edges_.updating(cpu, p, order);
  store_sized(p, desired, size);
  if (kTsan) edges_.updated(cpu, p, order);
  return true;
}

void Memory::fence(unsigned cpu, Fence kind) {
  if (kTsan) edges_.fence(cpu, kind);
}

void Memory::control_dependency(unsigned cpu, const volatile void* p) {
  if (kTsan) edges_.loaded(cpu, p, true);
}

uint64_t Memory::peek(const volatile void* p, unsigned size) {
  switch (size) {
    case 8:
      return *static_cast<const volatile uint64_t*>(p);
    case 4:
      return *static_cast<const volatile uint32_t*>(p);
    case 2:
      return *static_cast<const volatile uint16_t*>(p);
    default:
      return *static_cast<const volatile uint8_t*>(p);
  }
}

// ---- edges for ThreadSanitizer

namespace {

// Message objects: addresses are all that matters. An execution uses a few hundred; when they wrap
// within one, two messages share an object, which can hide a race but never invents one.
constexpr uint32_t kMessages = 1u << 16;
constexpr uint32_t kFirstSlots = 1u << 13;
alignas(64) char message_objects[kTsan ? kMessages * 8 : 8];

}  // namespace

void Memory::Edges::reset(unsigned cpus) {
  if (slots_.empty()) slots_.resize(kFirstSlots);
  ++generation_;
  used_ = 0;
  cpus_.assign(cpus, Cpu{});
}

// Open addressing, at most half full. No message may be forgotten: an order that ThreadSanitizer
// does not hear of is a race that is not there.
Memory::Edges::Slot& Memory::Edges::slot(const volatile void* p) {
  const size_t mask = slots_.size() - 1;
  size_t at = (reinterpret_cast<uintptr_t>(p) * 0x9e3779b97f4a7c15u >> 24) & mask;
  while (slots_[at].generation == generation_ && slots_[at].address != p) at = (at + 1) & mask;
  Slot& found = slots_[at];
  if (found.generation == generation_) return found;
  if (++used_ > slots_.size() / 2) {
    grow();
    return slot(p);
  }
  return found = Slot{p, nullptr, generation_};
}

void Memory::Edges::grow() {
  std::vector<Slot> before(2 * slots_.size());
  before.swap(slots_);
  used_ = 0;
  for (const Slot& s : before) {
    if (s.generation == generation_) slot(s.address) = s;
  }
}

void* Memory::Edges::fresh_message() {
  next_message_ = (next_message_ + 1) % kMessages;
  return message_objects + next_message_ * 8;
}

void Memory::Edges::acquire_pending(Cpu& cpu) {
  for (unsigned i = 0; i < cpu.count; ++i) tsan_acquire(cpu.pending[i]);
  cpu.count = 0;
}

void Memory::Edges::loaded(unsigned cpu, const volatile void* p, bool acquire) {
  void* message = slot(p).message;
  if (!message) return;
  if (acquire) return tsan_acquire(message);
  Cpu& c = cpus_[cpu];
  for (unsigned i = 0; i < c.count; ++i) {
    if (c.pending[i] == message) return;
  }
  if (c.count == kPending) {
    tsan_acquire(c.pending[0]);
    c.pending[0] = c.pending[--c.count];
  }
  c.pending[c.count++] = message;
}

void Memory::Edges::stored(unsigned cpu, const volatile void* p, bool release) {
  Slot& s = slot(p);
  if (release) {
    s.message = fresh_message();
    tsan_release(s.message);
  } else {
    s.message = cpus_[cpu].released;
  }
}

// An RMW carries on the release sequence that it reads from. Where it also publishes itself, the
// two are joined through this context, which orders a little more than promised.
void Memory::Edges::updating(unsigned cpu, const volatile void* p, Order order) {
  Cpu& c = cpus_[cpu];
  if (order == Order::full) acquire_pending(c);
  void* message = slot(p).message;
  if (message && (order != Order::relaxed || c.released)) tsan_acquire(message);
}

void Memory::Edges::updated(unsigned cpu, const volatile void* p, Order order) {
  Slot& s = slot(p);
  Cpu& c = cpus_[cpu];
  const bool release = orders_stores(order);
  if (release || (c.released && s.message)) {
    s.message = fresh_message();
    tsan_release(s.message);
  } else if (c.released) {
    s.message = c.released;
  }
  if (order == Order::full) c.released = s.message;
}

void Memory::Edges::fence(unsigned cpu, Fence kind) {
  Cpu& c = cpus_[cpu];
  if (kind == Fence::compiler) return;
  if (kind != Fence::wmb) acquire_pending(c);
  if (kind == Fence::mb || kind == Fence::wmb) {
    c.released = fresh_message();
    tsan_release(c.released);
  }
}

}  // namespace sd::engine
