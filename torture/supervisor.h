// A run: starts the workers, collects what they find and what they die of, and ends them. Code
// under test never runs in this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "torture/options.h"
#include "torture/report.h"
#include "torture/totals.h"

namespace sd::torture {

// How long a stopped run waits for executions that have begun. Most take milliseconds; one that
// takes longer than this is given up, unless it is the only one the run has.
inline constexpr std::chrono::milliseconds kGrace{10'000};

struct RunResult {
  Totals totals;
  std::vector<Group> groups;  // by number of execution
  bool interrupted = false;   // by a signal
  unsigned given_up = 0;      // executions that had not ended a while after the run's end
  std::string output_error;   // what the environment did not allow first, with the remedy
  std::chrono::milliseconds elapsed{0};   // of all parts of the run
  std::chrono::milliseconds cpu_time{0};  // of all workers; of this part
};

// What a run tells while it goes on.
class RunListener {
 public:
  virtual ~RunListener() = default;
  // Nothing keeps the run from starting.
  virtual void on_start() = 0;
  virtual void on_progress(const Totals& totals, std::chrono::milliseconds elapsed) = 0;
  // A signature for the first time; the files are written already.
  virtual void on_report(const std::string& report) = 0;
  // Something of the environment fails, say the disk is full; told once, the run goes on.
  virtual void on_trouble(const std::string& what) = 0;
};

class SilentListener final : public RunListener {
 public:
  void on_start() override {}
  void on_progress(const Totals&, std::chrono::milliseconds) override {}
  void on_report(const std::string&) override {}
  void on_trouble(const std::string&) override {}
};

// environment_error() if the output directory or the system does not allow it.
RunResult supervise(const TortureOptions& options, const std::string& program,
                    RunListener* listener);

}  // namespace sd::torture
