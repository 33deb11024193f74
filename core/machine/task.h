// A task: a kernel thread, an idle task or one of the machine's own per-CPU threads. Its fiber
// holds its stack, and the interrupt handlers that run on top of it.
#pragma once

#include <cstdint>

#include "core/engine/action.h"
#include "core/engine/fiber.h"
#include "core/machine/sd.h"

enum class sd_task_state : uint8_t {
  created,   // never run
  runnable,  // waits in a run queue
  running,   // is a CPU's current task
  blocked,   // waits to be woken
  waking,    // a wake-up is on its way through a call queue
  dead,
};

enum class sd_task_class : uint8_t { stopper, normal, idle };

struct sd_task {
  uint16_t id = 0;
  uint16_t cpu = 0;  // where it runs, or ran last, or will run
  sd_task_state state = sd_task_state::created;
  sd_task_class sched_class = sd_task_class::normal;
  bool per_cpu_kthread = false;  // stays on its CPU while that goes down
  // Does not keep an execution going; a daemon whose function returned can be woken again.
  bool daemon = false;
  bool woken_again = false;    // a daemon that was woken while it still ran
  bool started = false;        // has run on its fiber in this execution
  bool acquire_cpu = false;    // to do when it is next resumed: take over the CPU's view
  bool acquire_waker = false;  // and the view of whoever woke it
  bool irqs_off = false;       // while it is not running: its interrupt flag
  // Preempted inside an RCU reader that the current grace period waits for.
  bool gp_blocked = false;
  uint32_t bound = sd_any_cpu;
  uint32_t preempt_count = 0;
  uint32_t rcu_depth = 0;
  uint32_t migrate_disabled = 0;
  uint32_t waiting_slot = 0;  // position in the list of migratable waiting tasks

  // Where it stands: the operation of the scheduling point it is at.
  sd::engine::OpKind op = sd::engine::OpKind::begin;
  const volatile void* op_addr = nullptr;

  // What the context that resumed it wants of it.
  enum class Command : uint8_t { go, irq } command = Command::go;
  uint8_t command_vector = 0;

  // Parked: waits, on its CPU, for *park_addr to change.
  bool parked = false;
  unsigned park_size = 0;
  const volatile void* park_addr = nullptr;
  uint64_t park_old = 0;
  sd_task* park_next = nullptr;
  const char* wait_function = "";  // who waits, while parked or blocked
  const char* wait_for = "";       // and for what: "sleep", "wait queue", ...

  sd_waitq* queue = nullptr;      // blocked on it
  sd_task* queue_next = nullptr;  // in a wait queue or a run queue
  uint64_t timer_deadline = 0;    // armed if not 0
  uint64_t timer_number = 0;
  bool timer_fired = false;

  uint64_t time_ns = 0;  // its own virtual time when it last ran
  sd::engine::Fiber* fiber = nullptr;
  void (*entry)(void*) = nullptr;
  void* arg = nullptr;
  volatile uint32_t* flags = nullptr;  // thread_info::flags, in the machine's globals
  char name[32] = {};
  alignas(64) unsigned char storage[sd_task_storage_bytes] = {};
};
