#include "torture/console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "torture/fields.h"
#include "torture/parse.h"
#include "torture/text.h"

namespace sd::torture {

namespace {

using std::chrono::milliseconds;

// "12.3M": short enough for a status line.
std::string short_number(double value) {
  for (const char* unit : {"", "k", "M", "G", "T"}) {
    if (value < 1000) return fmt::format("{:.{}f}{}", value, unit[0] == '\0' ? 0 : 1, unit);
    value /= 1000;
  }
  return fmt::format("{:.1f}P", value);
}

double per_second(uint64_t count, milliseconds elapsed) {
  return elapsed.count() <= 0
             ? 0
             : static_cast<double>(count) * 1000 / static_cast<double>(elapsed.count());
}

std::string minutes(milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

std::string run_command(const TortureOptions& options, const std::string& program) {
  std::string out = shell_word(program) + " torture scf " + to_options(options.scenario) +
                    fmt::format(" --seed {:#x}", *options.seed);
  if (options.executions) out += fmt::format(" --executions {}", *options.executions);
  if (options.duration) out += " --duration " + duration_text(*options.duration);
  if (!options.shard.is_whole()) out += " --shard " + options.shard.text();
  if (options.keep_going) out += " --keep-going";
  if (options.check_determinism) out += " --check-determinism";
  return out;
}

scf::Verdict run_verdict(const RunResult& result) {
  if (!result.groups.empty()) return scf::Verdict::failure;
  return scf::verdict(result.totals.scf);
}

std::string verdict_line(const TortureOptions& options, const RunResult& result) {
  const Totals& totals = result.totals;
  const scf::ScfStats& scf = totals.scf;
  return fmt::format(
      "scf-torture:--- End of test: {}: executions={} ops={} steps={} onoff={}/{} errors={} "
      "seed={:#x}\n",
      scf::verdict_name(run_verdict(result)), totals.executions, scf.ops, totals.steps,
      scf.online_successes + scf.offline_successes, scf.online_attempts + scf.offline_attempts,
      totals.failures, *options.seed);
}

std::string findings_list(const RunResult& result) {
  if (result.groups.empty()) return {};
  std::string list = "Failures by signature:\n";
  for (const Group& group : result.groups) {
    list +=
        fmt::format("  {:>8} {}  {}\n", group.count, group.finding.signature, group.files.replay);
  }
  return list;
}

std::string status_line(const TortureOptions& options, const Totals& totals, milliseconds elapsed) {
  const scf::ScfStats& scf = totals.scf;
  std::string out = fmt::format(
      "{} executions, {} operations, {} steps/s, hotplug {}/{}, {}",
      short_number(static_cast<double>(totals.executions)),
      short_number(static_cast<double>(scf.ops)), short_number(per_second(totals.steps, elapsed)),
      scf.online_successes + scf.offline_successes, scf.online_attempts + scf.offline_attempts,
      counted(totals.failures, "failure"));
  if (options.executions) {
    const uint64_t all = options.shard.share_of(*options.executions);
    out += fmt::format(", {} left", all - std::min(all, totals.executions));
  }
  if (options.duration) {
    out += ", " + minutes(std::max(milliseconds{0}, *options.duration - elapsed)) + " left";
  }
  return out;
}

Console::Console(const TortureOptions& options, const std::string& program)
    : options_(options),
      program_(program),
      terminal_(::isatty(STDOUT_FILENO) == 1 && !options.quiet),
      next_stats_(options.stats) {}

void Console::on_start() {
  if (options_.quiet) return;
  print(run_command(options_, program_) + "\n");
  for (const std::string& note : notes_on(options_.scenario)) print("Note: " + note + "\n");
  if (options_.scenario.scf.verbose > 0) print_parameters("Start of test");
}

void Console::print_parameters(const char* tag) {
  char line[scf::kLineSize];
  scf::format_module_parameters(line, sizeof(line), options_.scenario.scf);
  if (std::string(tag).starts_with("Start")) print(line);
  scf::format_parameters(line, sizeof(line), tag, options_.scenario.scf);
  print(line);
  if (!std::string(tag).starts_with("Start")) return;
  scf::Selector selector;
  scf::build_selector(options_.scenario.scf.weights, options_.scenario.machine.cpus, &selector);
  for (unsigned i = 0; i < selector.count; i++) {
    scf::format_selector_entry(line, sizeof(line), selector, i);
    print(line);
  }
}

void Console::print_stats(const Totals& totals, bool is_final) {
  char line[scf::kLineSize];
  scf::format_stats(line, sizeof(line), totals.scf, is_final);
  print(line);
  scf::format_extra_stats(line, sizeof(line), totals.scf);
  print(line);
}

void Console::on_progress(const Totals& totals, milliseconds elapsed) {
  if (options_.quiet) return;
  if (terminal_) {
    const std::string line = status_line(options_, totals, elapsed);
    std::fputs(("\r" + line + "\x1b[K").c_str(), stdout);
    std::fflush(stdout);
    status_shown_ = true;
    return;
  }
  if (options_.stats.count() == 0 || elapsed < next_stats_) return;
  next_stats_ += options_.stats;
  print_stats(totals, false);
}

void Console::on_report(const std::string& report) {
  print("\n" + report + "\n");
}

void Console::on_trouble(const std::string& what) {
  if (!options_.quiet) print("Note: " + what + "; the run goes on\n");
}

void Console::end(const RunResult& result) {
  if (result.groups.size() > 1 && !options_.quiet) print(findings_list(result));
  if (!options_.quiet) print_stats(result.totals, true);
  if (options_.scenario.scf.verbose > 0 && !options_.quiet) {
    print_parameters(
        fmt::format("End of test: {}", scf::verdict_name(run_verdict(result))).c_str());
  }
  if (result.given_up > 0) {
    std::fprintf(stderr,
                 "shootdown: %s had not ended %lld s after the end of the run, and %s not in its "
                 "result\n",
                 counted(result.given_up, "execution").c_str(),
                 static_cast<long long>(kGrace.count() / 1000),
                 result.given_up == 1 ? "is" : "are");
  }
  if (!result.output_error.empty()) {
    std::fprintf(stderr, "shootdown: %s\n", result.output_error.c_str());
  }
  print(verdict_line(options_, result));
}

void Console::print(const std::string& text) {
  if (status_shown_) std::fputs("\r\x1b[K", stdout);
  status_shown_ = false;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace sd::torture
