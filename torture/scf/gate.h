// Where tasks of the torture wait for each other: a count that goes down to zero. Machine-atomic,
// and without polling, so that waiting costs an execution few steps.
#pragma once

#include "core/kernel/compiler.h"
#include "core/kernel/completion.h"

namespace sd::scf {

// Zero is open. Lives in machine memory; zeroed memory is an open gate.
struct Gate {
  unsigned count;
  unsigned spinners;
  unsigned opened;  // what spinners wait to become 1; marked
  struct sd_waitq wait;
};

static inline void gate_set(Gate* gate, unsigned count) {
  kernel::data_race_write(&gate->count, count);
}
static inline bool gate_is_open(const Gate* gate) {
  return kernel::data_race_read(&gate->count) == 0;
}

// Opens it for good, whatever the count.
static inline void gate_open(Gate* gate, const char* fn = __builtin_FUNCTION()) {
  sd_sync_release(gate);
  gate_set(gate, 0);
  if (sd_wake_all(&gate->wait)) sd_point(sd_point_wake, gate, fn);
  if (kernel::data_race_read(&gate->spinners))
    kernel::store_marked(&gate->opened, 1, sd_relaxed, fn);
}

// One less to wait for. Everything before is visible after the wait that it ends.
static inline void gate_arrive(Gate* gate, const char* fn = __builtin_FUNCTION()) {
  const unsigned count = kernel::data_race_read(&gate->count);
  if (count <= 1) return gate_open(gate, fn);
  sd_sync_release(gate);
  gate_set(gate, count - 1);
}

// One more to wait for, unless it is open.
static inline void gate_join(Gate* gate) {
  if (!gate_is_open(gate)) gate_set(gate, kernel::data_race_read(&gate->count) + 1);
}

// Waits asleep.
static inline void gate_wait(Gate* gate, const char* fn = __builtin_FUNCTION()) {
  while (!gate_is_open(gate)) sd_block_on(&gate->wait, fn);
  sd_sync_acquire(gate);
}

// Waits busy, as with cpu_relax(): the CPU is kept, and nobody has to be woken. For a short wait
// where tasks can be preempted; elsewhere, who would open the gate may wait for this CPU.
static inline void gate_spin(Gate* gate, const char* fn = __builtin_FUNCTION()) {
  kernel::data_race_write(&gate->spinners, kernel::data_race_read(&gate->spinners) + 1);
  while (!gate_is_open(gate)) sd_wait_change(&gate->opened, 0, sizeof(gate->opened), 0, fn);
  sd_sync_acquire(gate);
}

}  // namespace sd::scf
