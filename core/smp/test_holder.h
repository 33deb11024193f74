// For the tests of this folder: a thread that keeps a CPU from taking interrupts.
#pragma once

#include "core/smp/test_machine.h"

namespace sd::smp::testing {

// Between hold() and release() the CPU has interrupts off. The caller runs elsewhere.
class Holder {
 public:
  void hold(unsigned cpu) {
    task_ = create_thread(
        [](void* p) {
          static_cast<Holder*>(p)->run();
          return 0;
        },
        this, "holder");
    kernel::kthread_bind(task_, cpu);
    kernel::wake_up_process(task_);
    while (!smp_load_acquire(&held_)) kernel::schedule_timeout_interruptible(1);
  }
  void release() {
    smp_store_release(&released_, 1u);
    kernel::kthread_join(task_);
    held_ = released_ = 0;
  }

 private:
  void run() {
    kernel::local_irq_disable();
    smp_store_release(&held_, 1u);
    smp_cond_load_acquire(&released_, VAL != 0);
    kernel::local_irq_enable();
  }

  kernel::task_struct* task_ = nullptr;
  unsigned held_ = 0;
  unsigned released_ = 0;
};

}  // namespace sd::smp::testing
