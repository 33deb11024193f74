// What the stack keeps in a task (fields of task_struct). The first half of a task's storage
// belongs to core/kernel, the second to the stack.
#pragma once

#include "core/kernel/kthread.h"
#include "core/smp/csd.h"

namespace sd::smp {

struct task_data {
  task_struct* task;
  __call_single_node wake_entry;
  // P04: the mask itself, or where it is (null: none).
  union {
    uint64_t ipi_mask_val;
    cpumask* ipi_mask_ptr;
  };
};

static inline task_data* task_data_of(task_struct* task) {
  constexpr size_t kHalf = sd_task_storage_bytes / 2;
  static_assert(sizeof(task_data) <= kHalf);
  return reinterpret_cast<task_data*>(static_cast<char*>(sd_task_storage(task)) + kHalf);
}

}  // namespace sd::smp
