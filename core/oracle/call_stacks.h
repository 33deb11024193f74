// Ghost records of calls in progress. Calls of one task nest: interrupt handlers run on the stack
// of the task that they interrupt, so a call that begins later ends earlier.
#pragma once

#include <cstdint>
#include <vector>

#include "core/machine/config.h"

namespace sd::oracle {

// Call is a plain struct with members `uint32_t below; uint16_t task; bool live`, managed here. A
// record stays live after pop() until release(): what was asked for without waiting outlives its
// call.
template <typename Call>
class CallStacks {
 public:
  static constexpr uint32_t kNone = ~0u;

  CallStacks() : top_(machine::kMaxTasks, kNone) { pool_.reserve(256); }

  void clear() {
    for (uint32_t i = 0; i < used_; ++i) top_[pool_[i].task] = kNone;
    used_ = 0;
    free_ = kNone;
  }

  // A fresh record, now the innermost call of the task. References are valid until the next push().
  Call& push(uint16_t task) {
    uint32_t index = free_;
    if (index != kNone) {
      free_ = pool_[index].below;
    } else {
      index = used_++;
      if (index == pool_.size()) pool_.emplace_back();
    }
    Call& call = pool_[index];
    call = Call{};
    call.task = task;
    call.live = true;
    call.below = top_[task];
    top_[task] = index;
    return call;
  }

  // The innermost call of the task, or nullptr.
  Call* top(uint16_t task) { return top_[task] == kNone ? nullptr : &pool_[top_[task]]; }
  uint32_t top_index(uint16_t task) const { return top_[task]; }
  void pop(uint16_t task) { top_[task] = pool_[top_[task]].below; }

  Call& at(uint32_t index) { return pool_[index]; }
  const Call& at(uint32_t index) const { return pool_[index]; }
  uint32_t index_of(const Call& call) const { return static_cast<uint32_t>(&call - pool_.data()); }
  // Bound of the indices in use; some of the records below it may not be live.
  uint32_t used() const { return used_; }

  // A popped record.
  void release(Call& call) {
    call.live = false;
    call.below = free_;
    free_ = index_of(call);
  }

 private:
  std::vector<Call> pool_;
  std::vector<uint32_t> top_;  // by task
  uint32_t used_ = 0;
  uint32_t free_ = kNone;
};

}  // namespace sd::oracle
