// A vCPU.
#pragma once

#include <cstdint>
#include <vector>

#include "core/machine/task.h"

namespace sd::machine {

// A first-in, first-out queue of tasks, linked through sd_task::queue_next.
struct TaskList {
  sd_task* head = nullptr;
  sd_task* tail = nullptr;
  uint32_t size = 0;

  bool empty() const { return head == nullptr; }
  void push_back(sd_task* task);
  sd_task* pop_at(uint32_t index);
  bool remove(sd_task* task);
};

struct Cpu {
  unsigned id = 0;
  sd_task* current = nullptr;
  sd_task* idle = nullptr;
  sd_task* stopper = nullptr;
  sd_task* hotplug_thread = nullptr;
  TaskList queue;  // runnable, not running; the stopper is not in it
  bool stopper_runnable = false;
  bool stopper_enabled = false;  // it accepts work
  bool irqs_off = false;
  bool halted = false;  // idle, until an interrupt
  bool alive = false;   // executes instructions; false before bring-up and after idle-dead
  // Drops interrupts: from offlining until online again, if at all.
  bool irq_controller_off = false;
  bool balance_push = false;  // tasks that may leave are pushed away while it is dying
  bool revived = false;       // dead, and being brought up again
  uint32_t pinned = 0;        // migrate-disabled tasks that belong here
  sd_waitq empty_queue{};     // the hotplug thread waits here for pinned to become 0
  bool needs_qs = false;      // the current grace period waits for it
  uint8_t hardirq_depth = 0;
  uint8_t pending = 0;           // vectors
  uint8_t offered = 0;           // vectors whose delivery is in the action set
  bool preempt_offered = false;  // and whether its preemption is
  uint64_t time_ns = 0;
  uint64_t irq_time_ns[sd_nr_vectors] = {};  // when the pending interrupt arrives
  std::vector<sd_task*> expired;             // timers that the pending timer interrupt will handle
};

}  // namespace sd::machine
