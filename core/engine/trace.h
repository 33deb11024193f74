// What happened: a stream of events, a ring of the last ones for reports, a hash over all of them,
// and the observers (oracles) that listen. Emitting an event is never a scheduling point.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/engine/action.h"

namespace sd::engine {

// Who an event belongs to: ids 0..31 are the engine's memory operations, 32..95 the machine's,
// 96..255 tracepoints of the stack and of scenarios.
using EventId = uint8_t;

namespace event {
inline constexpr EventId load = 1;          // obj = address, a = value read, b = size in bytes
inline constexpr EventId store = 2;         // obj = address, a = value written, b = size
inline constexpr EventId rmw = 3;           // obj = address, a = value before, b = value after
inline constexpr EventId cmpxchg_fail = 4;  // obj = address, a = value found, b = value expected
inline constexpr EventId fence = 5;         // a = sd_fence_kind
inline constexpr EventId alloc = 6;         // obj = object (0: failed), a = size
inline constexpr EventId free = 7;          // obj = object, a = size
inline constexpr EventId first_machine = 32;
inline constexpr EventId first_stack = 96;
}  // namespace event

struct Event {
  uint64_t step = 0;
  uint64_t time_ns = 0;                // virtual time of the vCPU
  const char* function = "";           // of the code under test, as __func__ names it; a literal
  const volatile void* obj = nullptr;  // identity only: not hashed
  uint64_t a = 0;  // hashed, unless the id is registered as carrying pointers in it
  uint64_t b = 0;
  uint16_t cpu = 0;
  uint16_t task = 0;  // task id on whose stack this happened (the interrupted one for handlers)
  EventId id = 0;
  uint8_t irq_depth = 0;  // > 0: inside an interrupt handler
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual const char* name() const = 0;
  // Which events to get. Asked once, when the observer is attached.
  virtual std::vector<EventId> interests() const = 0;
  // A new execution has booted; forget all ghost state.
  virtual void on_begin() = 0;
  virtual void on_event(const Event& event) = 0;
  // The machine is quiet and every task has ended. Not called after a failure.
  virtual void on_end() {}
};

// How an event of some id is printed and hashed. Registered once per process by its layer.
struct EventFormat {
  const char* name = nullptr;  // "csd_queue_cpu"
  const char* a = nullptr;     // label of a, nullptr: not shown
  const char* b = nullptr;
  bool hash_a = true;  // false: a (b) may hold a pointer: hashed only if it is too small for one
  bool hash_b = true;
};

void register_event(EventId id, const EventFormat& format);
const EventFormat& event_format(EventId id);

class Trace {
 public:
  static constexpr uint32_t kRingSize = 1u << 13;  // events kept for a report

  void attach(Observer* observer);  // not owned
  void detach_all();

  void begin();  // new execution: hash and ring start anew, observers are told
  void end();    // tells the observers

  // Where the next event is to be written, before commit(): an event that is made elsewhere and
  // copied word by word costs as much as all the rest of it.
  Event& next() { return ring_[count_ & (kRingSize - 1)]; }
  [[gnu::always_inline]] void commit() {
    const Event& event = next();
    const EventFormat& format = formats_[event.id];
    const uint64_t a = format.hash_a || event.a < kSurelyNoPointer ? event.a : kSurelyNoPointer;
    const uint64_t b = format.hash_b || event.b < kSurelyNoPointer ? event.b : kSurelyNoPointer;
    mix(static_cast<uint64_t>(event.id) | static_cast<uint64_t>(event.irq_depth) << 8 |
        static_cast<uint64_t>(event.cpu) << 16 | static_cast<uint64_t>(event.task) << 32);
    mix(a * 0x9e3779b97f4a7c15u + b);
    count_++;
    for (Observer* observer : subscribers_[event.id]) observer->on_event(event);
  }

  void emit(const Event& event) {
    next() = event;
    commit();
  }

  // Folds a decision or a clock reading into the hash.
  static constexpr uint64_t kSurelyNoPointer = 1u << 16;
  void mix(uint64_t value) { hash_ = (hash_ ^ value) * 0x2127599bf4325c37u ^ (hash_ >> 29); }

  uint64_t hash() const { return hash_; }
  uint64_t count() const { return count_; }
  // The last `n` events (fewer if there were fewer), oldest first.
  std::vector<Event> last(uint32_t n) const;
  // For choosers and layouts that look at what has happened last without copying:
  // i-th from the end.
  const Event& recent(uint32_t i) const { return ring_[(count_ - 1 - i) & (kRingSize - 1)]; }

 private:
  static const EventFormat* formats();

  const EventFormat* formats_ = formats();
  std::vector<Event> ring_ = std::vector<Event>(kRingSize);
  std::array<std::vector<Observer*>, 256> subscribers_;
  std::vector<Observer*> observers_;
  uint64_t count_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace sd::engine
