// What a run prints: the first line, progress, failures, the verdict. See the golden tests for the
// exact form of each.
#pragma once

#include <chrono>
#include <string>

#include "torture/options.h"
#include "torture/scf/stats_line.h"
#include "torture/supervisor.h"

namespace sd::torture {

// The command that makes the same run again.
std::string run_command(const TortureOptions& options, const std::string& program);

scf::Verdict run_verdict(const RunResult& result);
// "scf-torture:--- End of test: SUCCESS: executions=N ops=N steps=N onoff=N/N errors=0 seed=0x..."
std::string verdict_line(const TortureOptions& options, const RunResult& result);

// "Failures by signature:", a line each; "" if there are none.
std::string findings_list(const RunResult& result);

// "12 executions, 48 operations, ..." for a terminal.
std::string status_line(const TortureOptions& options, const Totals& totals,
                        std::chrono::milliseconds elapsed);

class Console final : public RunListener {
 public:
  Console(const TortureOptions& options, const std::string& program);

  void on_start() override;
  void on_progress(const Totals& totals, std::chrono::milliseconds elapsed) override;
  void on_report(const std::string& report) override;
  void on_trouble(const std::string& what) override;
  // Ends with the verdict, always the last line.
  void end(const RunResult& result);

 private:
  void print(const std::string& text);  // above the status line
  void print_parameters(const char* tag);
  void print_stats(const Totals& totals, bool is_final);

  const TortureOptions& options_;
  const std::string program_;
  const bool terminal_;
  bool status_shown_ = false;
  std::chrono::milliseconds next_stats_;
};

}  // namespace sd::torture
