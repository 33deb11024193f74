// The command line of `torture`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torture/command.h"
#include "torture/run_state.h"
#include "torture/scenario.h"
#include "torture/shard.h"

namespace sd::torture {

inline constexpr unsigned kMaxJobs = RunState::kMaxUnfinished;

struct TortureOptions {
  Scenario scenario;
  std::optional<uint64_t> seed;  // else drawn
  std::optional<std::chrono::milliseconds> duration;
  std::optional<uint64_t> executions;
  std::optional<std::chrono::milliseconds> cpu_budget;  // of all workers, CPU time
  Shard shard;
  std::string resume;  // the directory of a run to go on with
  unsigned jobs = 0;   // 0: all cores
  std::string out = "shootdown-out";
  bool keep_going = false;
  bool check_determinism = false;
  std::chrono::milliseconds stats{15'000};  // between statistics lines; 0: none
  std::string json;
  bool quiet = false;

  // As they came; what they come to together is decided by finish().
  std::vector<std::string> patches;
  std::vector<std::string> bugs;
  std::vector<std::string> fixed_by_resume;  // options given that --resume excludes
  std::optional<std::string> out_given;
  std::optional<std::chrono::milliseconds> stats_given;
  std::optional<std::chrono::milliseconds> stat_interval_given;

  std::optional<RunState> earlier;  // what --resume goes on from

  // Applies series, patches and bugs, reads the state of a run to go on with, fills in defaults,
  // and names contradictions (usage_error).
  void finish();

 private:
  void go_on_from(const RunState& state);
};

// The option table; `options` is what the values go to, and must outlive it.
std::vector<Option> torture_option_table(TortureOptions* options);

// "scftorture.nthreads=3" to "--nthreads=3"; see Command::kernel_parameter.
std::string kernel_parameter_option(const std::string& word);

}  // namespace sd::torture
