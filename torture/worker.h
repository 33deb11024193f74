// A worker process: takes numbers of executions from a counter that all workers share, runs them,
// and tells its supervisor through shared memory and a pipe. It may die at any instruction.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/engine/choice_log.h"
#include "torture/child.h"
#include "torture/scenario.h"
#include "torture/totals.h"

namespace sd::torture {

// What all workers look at.
struct SharedCounters {
  std::atomic<uint64_t> next = 0;   // the next execution that nobody has taken yet
  std::atomic<uint64_t> limit = 0;  // executions from this one on are not to be run

  // Lowers the limit.
  void stop_at(uint64_t execution);
};

// What one worker publishes.
struct WorkerPage {
  TotalsPage totals;
  std::atomic<uint64_t> choices = 0;  // made so far, by the watchdog's clock
  // It has reported all it found, and ends although there is more to run; whatever its exit code.
  std::atomic<bool> retired = false;
};

struct WorkerTask {
  const Scenario* scenario = nullptr;
  uint64_t seed = 0;  // of the run
  bool keep_going = false;
  bool check_determinism = false;
  SharedCounters* shared = nullptr;
  WorkerPage* page = nullptr;
  engine::ChoiceLog* log = nullptr;
  const Capture* capture = nullptr;
  int pipe = -1;  // findings go here
};

// The body of a worker process, after fork.
int run_worker(const WorkerTask& task);

}  // namespace sd::torture
