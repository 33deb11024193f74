// The seam through which everything that could go two ways is decided. A machine asks its Chooser
// and nothing else: no clock, no rand(), no pointer value. So the list of answers *is* the
// execution. Answer 0 is always the calmest one.
#pragma once

#include <cstdint>

#include "core/engine/action.h"

namespace sd::engine {

// What a drawn number is for. Replay checks it, reports print it. The names are in purpose_name();
// append only: the numbers are written to replay files by name, and recorded by value.
enum class Purpose : uint8_t {
  alloc_fail,     // does this allocation fail
  next_task,      // which runnable task does a CPU take
  wake_cpu,       // where is a woken task put
  wake_path,      // directly, or through the remote CPU's call queue
  migrate_task,   // which waiting task moves
  migrate_cpu,    // and where to
  irq_kept,       // are interrupts of a CPU that goes down kept or lost
  idle_kind,      // does an idle CPU poll or halt
  hotplug_fail,   // is a failure injected into this hotplug operation
  hotplug_state,  // and at which state
  disable_fail,   // does __cpu_disable() refuse
  op_kind,        // torture: which primitive comes next
  op_cpu,         // torture: for which CPU
  op_mask,        // torture: for which set of CPUs
  op_value,       // torture: any other parameter of an operation
  handler_delay,  // torture: how long does a handler take
  sleep_fuzz,     // torture: how long does a task sleep
  onoff_cpu,      // torture: which CPU goes on- or offline
  host_steal,     // how long does the host take a vCPU away
  test,           // free for tests
  count_          // number of purposes, not one
};

const char* purpose_name(Purpose purpose);
// The purpose of that name, or Purpose::count_.
Purpose purpose_from_name(const char* name);

// No menu is longer and no number is drawn from more: replay files promise it to their readers.
inline constexpr uint32_t kMaxChoiceCount = 1u << 20;

// One answer of a chooser.
struct Choice {
  uint32_t value = 0;
  uint32_t count = 0;     // it was one of this many; > 1 (a choice of one is not asked for)
  bool is_action = true;  // an action was picked; otherwise a number was drawn for `purpose`
  Purpose purpose = Purpose::test;

  friend bool operator==(const Choice&, const Choice&) = default;
};

class Chooser {
 public:
  virtual ~Chooser() = default;

  // A new execution starts. `seed` is all the randomness the chooser may use until the next begin.
  virtual void begin(uint64_t seed) = 0;

  // Picks one of `actions` (at least two): the index as ActionSet::at counts. Called once per step.
  virtual uint32_t pick(const ActionSet& actions) = 0;

  // Draws a number in [0, n), 2 <= n <= kMaxChoiceCount.
  virtual uint32_t number(uint32_t n, Purpose purpose) = 0;

  // Name and parameters of what was drawn for this execution, e.g. "pct:3"; valid until begin().
  virtual const char* description() const = 0;
};

}  // namespace sd::engine
