#include "core/engine/trace.h"

#include <algorithm>
#include <cstring>

namespace sd::engine {
namespace {

// Any odd-looking constant: mixing zeros into a zero hash would leave no trace.
constexpr uint64_t kHashStart = 0x5348544453544152u;

struct FormatTable {
  EventFormat of[256];

  // Values in memory may be pointers (list nodes, functions), which differ from build to build; so
  // of a value read or written only null or not null enters the hash.
  constexpr FormatTable() : of{} {
    of[event::load] = {"load", "value", "size", false, true};
    of[event::store] = {"store", "value", "size", false, true};
    of[event::rmw] = {"rmw", "before", "after", false, false};
    of[event::cmpxchg_fail] = {"cmpxchg_fail", "found", "expected", false, false};
    of[event::fence] = {"fence", "kind", nullptr, true, true};
    of[event::alloc] = {"alloc", "size", nullptr, true, true};
    of[event::free] = {"free", "size", nullptr, true, true};
  }
};

// What events mean is fixed at start-up, before the first execution, and never changes after.
constinit FormatTable table;

bool same_text(const char* a, const char* b) {
  return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
}

bool same_format(const EventFormat& a, const EventFormat& b) {
  return same_text(a.name, b.name) && same_text(a.a, b.a) && same_text(a.b, b.b) &&
         a.hash_a == b.hash_a && a.hash_b == b.hash_b;
}

}  // namespace

void register_event(EventId id, const EventFormat& format) {
  SD_CHECK(format.name != nullptr);
  EventFormat& slot = table.of[id];
  // Two layers that use one id for two things would each print the other's events.
  SD_CHECK(slot.name == nullptr || same_format(slot, format));
  slot = format;
}

const EventFormat& event_format(EventId id) {
  return table.of[id];
}

const EventFormat* Trace::formats() {
  return table.of;
}

void Trace::attach(Observer* observer) {
  SD_CHECK(observer != nullptr);
  SD_CHECK(std::find(observers_.begin(), observers_.end(), observer) == observers_.end());
  observers_.push_back(observer);
  for (const EventId id : observer->interests()) {
    std::vector<Observer*>& list = subscribers_[id];
    if (std::find(list.begin(), list.end(), observer) == list.end()) list.push_back(observer);
  }
}

void Trace::detach_all() {
  observers_.clear();
  for (std::vector<Observer*>& list : subscribers_) list.clear();
}

void Trace::begin() {
  count_ = 0;
  hash_ = kHashStart;
  for (Observer* observer : observers_) observer->on_begin();
}

void Trace::end() {
  for (Observer* observer : observers_) observer->on_end();
}

std::vector<Event> Trace::last(uint32_t n) const {
  const uint64_t kept = std::min<uint64_t>({n, count_, kRingSize});
  std::vector<Event> events;
  events.reserve(kept);
  for (uint64_t i = count_ - kept; i < count_; ++i) {
    events.push_back(ring_[i & (kRingSize - 1)]);
  }
  return events;
}

}  // namespace sd::engine
