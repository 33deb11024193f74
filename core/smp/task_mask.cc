#include "core/smp/task_mask.h"

#include "core/kernel/slab.h"
#include "core/smp/switches.h"
#include "core/smp/task_data.h"

namespace sd::smp {
namespace {

// Whether a word of the task is enough for a mask (the kernel's static key ipi_mask_inlined).
bool ipi_mask_inlined() {
  if (nr_cpu_ids() > kBitsPerLong) return false;
  return param(Param::ipi_mask_inlined) != 0;
}

bool has_ipi_mask(const task_struct* parent) {
  if (!preempt_model_full() || !patch(Patch::p04) || bug(Bug::maskless_tasks)) return false;
  return ipi_mask_inlined() || parent || param(Param::maskless_init_task) == 0;
}

}  // namespace

cpumask* smp_task_ipi_mask(task_struct* task) {
  if (!preempt_model_full() || !patch(Patch::p04) || bug(Bug::maskless_tasks)) return nullptr;
  task_data* data = task_data_of(task);
  // Operations on masks touch only the words that hold CPUs, here one.
  if (ipi_mask_inlined()) return reinterpret_cast<cpumask*>(&data->ipi_mask_val);
  return data->ipi_mask_ptr;
}

// dup_task_struct(). False: out of memory.
static bool alloc_task_ipi_mask(task_data* data, task_struct* parent) {
  if (!has_ipi_mask(parent) || ipi_mask_inlined()) return true;
  if (bug(Bug::task_mask_shared_after_fork) && parent) {
    data->ipi_mask_ptr = task_data_of(parent)->ipi_mask_ptr;
    return true;
  }
  const size_t size = cpumask_words() * sizeof(uint64_t);
  data->ipi_mask_ptr = static_cast<cpumask*>(kmalloc(size, GFP_KERNEL, "ipi_mask"));
  return data->ipi_mask_ptr != nullptr;
}

bool smp_task_created(task_struct* task, task_struct* parent) {
  task_data* data = task_data_of(task);
  data->task = task;
  data->wake_entry.u_flags = CSD_TYPE_TTWU;
  return alloc_task_ipi_mask(data, parent);
}

void smp_task_freed(task_struct* task) {
  if (ipi_mask_inlined()) return;
  task_data* data = task_data_of(task);
  if (data->ipi_mask_ptr) kfree(data->ipi_mask_ptr);
  data->ipi_mask_ptr = nullptr;
}

}  // namespace sd::smp
