// struct rcuwait: one task that sleeps until a condition holds; whoever makes it hold wakes it.
// The waker may read the rcuwait until the end of the RCU read section that it is in: an
// interrupt, or interrupts off.
#pragma once

#include "core/kernel/compiler.h"
#include "core/kernel/kthread.h"

namespace sd::kernel {

struct rcuwait {
  task_struct* task;
};

// Where a task sleeps in rcuwait_wait_event().
struct sd_waitq* rcuwait_queue(task_struct* task);

void rcuwait_wake_up(struct rcuwait* w, const char* fn = __builtin_FUNCTION());

// `condition` is looked at with no scheduling point before the sleep that it decides on;
// it has none itself.
template <typename Condition>
void rcuwait_wait_event(struct rcuwait* w, Condition condition,
                        const char* fn = __builtin_FUNCTION()) {
  might_sleep(fn);
  store_marked(&w->task, current(), sd_relaxed, fn);
  sd_fence(sd_mb, fn);  // set_current_state(): the task is to be seen by who is seen not to be done
  struct sd_waitq* queue = rcuwait_queue(current());
  sd_point(sd_point_lock, queue, fn);
  while (!condition()) sd_block_on(queue, fn);
  sd_sync_acquire(w);
  store_marked(&w->task, static_cast<task_struct*>(nullptr), sd_relaxed, fn);
}

}  // namespace sd::kernel
