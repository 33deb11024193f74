// What could happen next. An Action is one entry of the menu that the machine offers to the Chooser
// at every scheduling point; an ActionSet is that menu, kept up to date incrementally, so that a
// step costs the same whatever the number of vCPUs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/engine/check.h"

namespace sd::engine {

// How much an action disturbs the calm course of an execution. Strategies treat the classes
// differently: a `disturb` action stays enabled after it was taken, so a strict priority must not
// let it starve the others.
enum class ActionClass : uint8_t {
  advance,  // run a context to its next scheduling point
  deliver,  // let something that was sent arrive (an interrupt, a drained store, ...)
  disturb,  // preempt, migrate, let time pass
};

// The kind of operation that a context is about to do when it is chosen (or has just done:
// after-points report `none`).
enum class OpKind : uint8_t {
  none,
  load,
  store,
  rmw,
  fence,
  toggle,
  ipi,
  sleep,
  alloc,
  lock,
  wake,
  begin,
  end,
  relax,
};

inline bool op_writes(OpKind op) {
  return op == OpKind::store || op == OpKind::rmw;
}

struct Action {
  // Names the same entity in every execution of a scenario; below ActionSet::capacity.
  uint32_t id = 0;
  ActionClass cls = ActionClass::advance;
  OpKind op = OpKind::none;
  // Of the coming operation; an identity, never ordered or hashed.
  const volatile void* addr = nullptr;
};

// A dense set of enabled actions. Index 0 is always the calmest action (see set_calm); the order of
// the others depends only on the history of enable/disable calls, so it is deterministic.
class ActionSet {
 public:
  // Forgets all actions; ids must be below `capacity` from now on. Cheap for an unchanged capacity.
  void reset(uint32_t capacity);

  uint32_t capacity() const { return static_cast<uint32_t>(position_.size()); }
  uint32_t size() const { return static_cast<uint32_t>(items_.size()); }
  bool empty() const { return items_.empty(); }
  bool enabled(uint32_t id) const { return position_[id] != kAbsent; }

  // Adds the action, or updates class, op and address if it is there already.
  void enable(uint32_t id, ActionClass cls, OpKind op, const volatile void* addr) {
    const uint32_t at = position_[id];
    if (__builtin_expect(at == kAbsent || items_[at].cls != cls, 0)) return put(id, cls, op, addr);
    items_[at].op = op;
    items_[at].addr = addr;
  }

  void disable(uint32_t id) {
    if (enabled(id)) remove(id);
  }

  // Makes the enabled action `id` index 0 until the next call.
  void set_calm(uint32_t id) {
    SD_CHECK(enabled(id));
    calm_ = position_[id];
  }

  // The i-th action in the order that choices are counted in: the calm one, then the rest.
  const Action& at(uint32_t i) const { return items_[i == 0 ? calm_ : (i <= calm_ ? i - 1 : i)]; }

  // The index `at` knows the action `id` by. The inverse of at().
  uint32_t index_of(uint32_t id) const {
    const uint32_t p = position_[id];
    SD_CHECK(p != kAbsent);
    return p == calm_ ? 0 : (p < calm_ ? p + 1 : p);
  }

  // How many times an action came or went so far, and which one it was the i-th time: for
  // whoever keeps an index over the set. Only the last kChangesKept are known; reset() counts
  // as more than that.
  static constexpr uint32_t kChangesKept = 256;
  uint64_t changes() const { return changes_; }
  uint32_t changed_id(uint64_t i) const { return changed_[i % kChangesKept]; }

  // How many of them disturb.
  uint32_t disturbing() const { return disturbing_; }

  // In storage order; for whole scans.
  const Action* begin() const { return items_.data(); }
  const Action* end() const { return items_.data() + items_.size(); }

 private:
  static constexpr uint32_t kAbsent = ~0u;

  void put(uint32_t id, ActionClass cls, OpKind op, const volatile void* addr);
  void remove(uint32_t id);
  void note_change(uint32_t id) { changed_[changes_++ % kChangesKept] = id; }

  std::vector<Action> items_;
  std::vector<uint32_t> position_;  // by id
  uint32_t calm_ = 0;
  uint32_t disturbing_ = 0;
  uint64_t changes_ = 0;
  std::array<uint32_t, kChangesKept> changed_{};
};

}  // namespace sd::engine
