// The enabled actions of an ActionSet by priority: knows the highest without looking at all of
// them, by following what came and went since it was asked last. A step costs O(log n) for each
// that did.
//
// Priorities of actions that are not enabled are kept until begin(), which forgets all in O(1): a
// cell that was not written in this execution says so by its age.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/engine/action.h"

namespace sd::engine {

class PriorityQueue {
 public:
  // Ids that a scenario may use. The size of the action set is known only at the first pick, in
  // the middle of an execution, where nothing may be allocated; so there is room for more than the
  // largest machine (512 CPUs) needs. Pages that nobody touches cost nothing.
  static constexpr uint32_t kMaxIds = 1u << 18;

  PriorityQueue();

  // Forgets everything.
  void begin();

  // Brings the queue up to date; before top(). `first(action)` is the priority (> 0) of an action
  // that has none yet, which came since or is there at the first call after begin().
  template <typename First>
  void follow(const ActionSet& actions, First first) {
    if (&actions != actions_ || actions.changes() - seen_ > ActionSet::kChangesKept) {
      start_over(actions);
      for (const Action& action : actions) came(action, first);
    }
    for (; seen_ != actions.changes(); ++seen_) {
      const uint32_t id = actions.changed_id(seen_);
      if (!actions.enabled(id)) {
        remove(id);
      } else if (cell(id).place == 0) {
        came(actions.at(actions.index_of(id)), first);
      }
    }
  }

  // The action of the highest priority; there must be one.
  uint32_t top() const { return heap_[1].id; }

  // The priority of an action; 0 if it has none yet.
  uint32_t get(uint32_t id) const { return cells_[id].age == age_ ? cells_[id].priority : 0; }
  void set(uint32_t id, uint32_t priority);

 private:
  struct Cell {
    uint32_t age;
    uint32_t priority;
    uint32_t place;  // in the heap, from 1; 0: not there
  };
  struct Item {
    uint32_t priority;
    uint32_t id;
  };
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  Cell& cell(uint32_t id) {
    Cell& cell = cells_[id];
    if (cell.age != age_) cell = Cell{age_, 0, 0};
    return cell;
  }
  template <typename First>
  void came(const Action& action, First first) {
    Cell& own = cell(action.id);
    if (own.priority == 0) own.priority = first(action);
    put(Item{own.priority, action.id}, ++size_);
  }
  void start_over(const ActionSet& actions);
  void remove(uint32_t id);
  // Puts the item where it belongs, given that `place` is free and all others are in order.
  void put(Item item, uint32_t place);

  uint32_t age_ = 0;
  uint32_t size_ = 0;
  uint64_t seen_ = 0;                   // changes of the set that were followed
  const ActionSet* actions_ = nullptr;  // nullptr: none yet
  std::unique_ptr<Cell[], Free> cells_;
  std::unique_ptr<Item[], Free> heap_;  // from 1; the parent of i is i / 2
};

}  // namespace sd::engine
