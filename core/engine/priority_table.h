// A priority for each action id, forgotten as a whole at the start of an execution without being
// touched: a cell that was not written in this execution says so by its age.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/engine/check.h"

namespace sd::engine {

class PriorityTable {
 public:
  // Ids that a scenario may use. The size of the action set is known only at the first pick, in
  // the middle of an execution, where nothing may be allocated; so the table is as large as the
  // largest machine (512 CPUs, 4096 tasks) could want. Pages that nobody touches cost nothing.
  static constexpr uint32_t kMaxIds = 1u << 18;

  PriorityTable() : cells_(static_cast<Cell*>(std::calloc(kMaxIds, sizeof(Cell)))) {
    SD_CHECK(cells_ != nullptr);
  }

  // Forgets all priorities. O(1), but for one time in 2^32.
  void begin() {
    if (++age_ == 0) {
      for (uint32_t i = 0; i < kMaxIds; ++i) cells_[i].age = 0;
      age_ = 1;
    }
  }

  // The priority of the action; 0 if it has none. `id` is below kMaxIds.
  uint32_t get(uint32_t id) const { return cells_[id].age == age_ ? cells_[id].priority : 0; }
  void set(uint32_t id, uint32_t priority) { cells_[id] = Cell{age_, priority}; }

 private:
  struct Cell {
    uint32_t age;
    uint32_t priority;
  };
  struct Free {
    void operator()(Cell* cells) const { std::free(cells); }
  };

  uint32_t age_ = 0;
  std::unique_ptr<Cell[], Free> cells_;
};

}  // namespace sd::engine
