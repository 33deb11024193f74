// What a machine is built from, and what a run of it comes to. Plain values; the layers above turn
// command lines and replay files into a Config and back.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "core/engine/failure.h"

namespace sd::machine {

inline constexpr unsigned kMaxCpus = 512;
inline constexpr unsigned kMaxTasks = 4096;

struct Config {
  unsigned cpus = 4;         // 1..kMaxCpus, all possible and present, all online at boot
  unsigned boot_cpus = 0;    // how many are online at boot; 0: all
  unsigned smt = 2;          // threads per core
  unsigned nodes = 0;        // NUMA nodes; 0: one per 8 CPUs, at least one
  bool preempt_full = true;  // CONFIG_PREEMPT; otherwise tasks are switched only where they yield

  std::bitset<64> patches;           // by series::Patch
  std::bitset<128> bugs;             // by bugs::Bug
  std::array<int64_t, 16> params{};  // by kernel::Param

  // Failure injection: one in so many; 0 never. Each is a choice, so calm executions have none.
  uint32_t alloc_fail = 0;
  uint32_t hotplug_fail = 0;  // a failure at a drawn state, or of __cpu_disable()
  // Warnings of the stack (WARN) are failures unless this is set; then they are only printed.
  bool warnings_expected = false;

  uint64_t step_bound = 0;  // 0: from the size of the machine

  // How far ahead of the present a timer may be made to fire while others could still run.
  uint64_t timer_lead_ns = 1'100'000'000;
};

struct Outcome {
  bool failed = false;
  engine::Failure failure;  // if failed
  uint64_t trace_hash = 0;
  uint64_t steps = 0;
  uint64_t virtual_ns = 0;
  uint64_t choices = 0;
  // Hotplug operations that the machine completed, and that failed.
  uint64_t onlined = 0, offlined = 0, hotplug_failed = 0;
};

}  // namespace sd::machine
