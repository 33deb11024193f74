// A worker process: takes numbers of executions from a counter that all workers share, runs them,
// and tells its supervisor through shared memory and a pipe. It may die at any instruction.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/engine/choice_log.h"
#include "torture/child.h"
#include "torture/run_state.h"
#include "torture/scenario.h"
#include "torture/shard.h"
#include "torture/totals.h"

namespace sd::torture {

// What all workers look at.
struct SharedCounters {
  std::atomic<uint64_t> next = 0;    // how many of the shard's executions have been taken
  std::atomic<uint64_t> limit = 0;   // executions from this number on are not to be run
  std::atomic<bool> paused = false;  // no execution is to begin

  // Numbers of executions that come before those: taken once already, but not finished.
  uint64_t left[RunState::kMaxUnfinished] = {};
  uint64_t left_count = 0;
  std::atomic<uint64_t> left_taken = 0;

  // Lowers the limit.
  void stop_at(uint64_t execution);
};

enum class WorkerPhase : uint32_t {
  resting,  // waits for the end of a pause
  taking,   // may have taken an execution and not yet said so
  running,  // has taken `current`
  refused,  // has taken `current`, which is not to be run
};

// What one worker publishes.
struct WorkerPage {
  TotalsPage totals;
  std::atomic<WorkerPhase> phase = WorkerPhase::resting;
  std::atomic<uint64_t> current = 0;  // number of the execution
  std::atomic<uint64_t> begun = 0;    // executions; unless it is in `totals`, the last is `current`
  // It has reported all it found, and ends although there is more to run; whatever its exit code.
  std::atomic<bool> retired = false;
};

struct WorkerTask {
  const Scenario* scenario = nullptr;
  uint64_t seed = 0;  // of the run
  Shard shard;
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
