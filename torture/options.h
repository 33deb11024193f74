// The command line of `torture`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torture/command.h"
#include "torture/scenario.h"

namespace sd::torture {

struct TortureOptions {
  Scenario scenario;
  std::optional<uint64_t> seed;  // else drawn
  std::optional<std::chrono::milliseconds> duration;
  std::optional<uint64_t> executions;
  unsigned jobs = 0;  // 0: all cores
  std::string out = "shootdown-out";
  bool keep_going = false;
  bool check_determinism = false;
  std::chrono::milliseconds stats{15'000};  // between statistics lines; 0: none
  std::string json;
  bool quiet = false;

  // As they came; what they come to together is decided by finish().
  std::vector<std::string> patches;
  std::vector<std::string> bugs;
  std::optional<std::chrono::milliseconds> stats_given;
  std::optional<std::chrono::milliseconds> stat_interval_given;

  // Applies series, patches and bugs, fills in defaults, and names contradictions (usage_error).
  void finish();
};

// The option table; `options` is what the values go to, and must outlive it.
std::vector<Option> torture_option_table(TortureOptions* options);

// "scftorture.nthreads=3" to "--nthreads=3"; see Command::kernel_parameter.
std::string kernel_parameter_option(const std::string& word);

}  // namespace sd::torture
