#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "core/engine/trace.h"
#include "torture/commands.h"
#include "torture/parse.h"
#include "torture/replay_text.h"
#include "torture/report.h"
#include "torture/rerun.h"
#include "torture/values.h"

namespace sd::torture {

namespace {

struct ReplayOptions {
  std::string file;
  ShownEvents events;
  unsigned times = 1;
  bool quiet = false;
  bool fork = true;
};

[[noreturn]] void does_not_fit(const std::string& file, const std::string& why) {
  throw UserError(exit_no_fit, file + " does not fit this build: " + why);
}

// Throws where the recording does not fit.
void check_fit(const Replay& replay, const Rerun& rerun, const std::string& file) {
  if (rerun.diverged) does_not_fit(file, rerun.divergence);
  if (rerun.failed) return;
  if (rerun.choices_left > 0) {
    does_not_fit(
        file, fmt::format("the execution ended well after {} steps, with {} of {} recorded choices "
                          "not asked for",
                          rerun.steps, rerun.choices_left, replay.choices.size()));
  }
}

// Replays once more and compares with the first time.
void repeat(const Replay& replay, const ReplayOptions& options, const Rerun& first) {
  for (unsigned i = 2; i <= options.times; i++) {
    const Rerun again = options.fork ? rerun_in_child(replay, ShownEvents{0, false})
                                     : rerun_here(replay, ShownEvents{0});
    if (again.trace_hash == first.trace_hash && again.signature == first.signature) continue;
    throw UserError(
        exit_failure,
        fmt::format(
            "internal error: replay {} of {} is not like the first: trace hash {:#018x} {}, "
            "not {:#018x} {}; this is a bug of shootdown itself, please report it",
            i, options.times, again.trace_hash, again.signature, first.trace_hash,
            first.signature));
  }
}

std::string verdict_of(const Replay& replay, const Rerun& rerun, const ReplayOptions& options) {
  std::string out = rerun.failed ? "FAILURE " + rerun.signature : "SUCCESS";
  if (replay.signature.empty()) {
    out += rerun.failed ? ": the recording says there is none" : ": as recorded";
  } else if (rerun.signature == replay.signature) {
    out += ": as recorded";
  } else {
    out += ": not the recorded failure, " + replay.signature;
  }
  if (rerun.trace_hash != 0) out += fmt::format(", trace hash {:#018x}", rerun.trace_hash);
  if (replay.trace_hash != 0 && rerun.trace_hash != replay.trace_hash) {
    out += fmt::format(" instead of {:#018x}", replay.trace_hash);
  }
  if (rerun.steps != 0) out += fmt::format(", {} steps", rerun.steps);
  if (options.times > 1) out += fmt::format(", {} times the same", options.times);
  return "replay:--- " + out + "\n";
}

int run_replay(const ReplayOptions& options, const std::string& program) {
  const Replay replay = load_replay(options.file);
  if (!options.quiet) {
    std::fputs((shell_word(program) + " replay " + shell_word(options.file) + ": " +
                to_options(replay.scenario) + fmt::format(", {} choices\n", replay.choices.size()))
                   .c_str(),
               stdout);
    std::fflush(stdout);
  }
  const Rerun rerun =
      options.fork ? rerun_in_child(replay, options.events) : rerun_here(replay, options.events);
  check_fit(replay, rerun, options.file);
  repeat(replay, options, rerun);
  if (rerun.failed && !options.quiet) {
    Report report;
    report.finding.failure = rerun.failure;
    report.finding.signature = rerun.signature;
    report.finding.events = rerun.events;
    std::fputs(("\n" + report.body() + "\n").c_str(), stdout);
  }
  std::fputs(verdict_of(replay, rerun, options).c_str(), stdout);
  return rerun.failed ? exit_failure : exit_clean;
}

}  // namespace

Command replay_command(const std::string& program) {
  const auto options = std::make_shared<ReplayOptions>();
  ReplayOptions* o = options.get();
  Command command;
  command.name = "replay";
  command.summary =
      "Run a recorded execution again: exit 1 if it fails, 0 if not, 4 if it does not fit";
  command.example =
      "shootdown torture --bug canary --seed 1 --out canary --quiet; "
      "shootdown replay canary/failures/*/replay.sdr";
  const auto add = [&command](const char* name, const char* value, const char* help, bool required,
                              std::function<void(const std::string&)> set) {
    command.options.push_back({name, value, help, "", false, required, std::move(set)});
  };
  add("FILE", "FILE", "A replay.sdr that a run has written", true,
      [o](const std::string& text) { o->file = text; });
  add("--events", "N", "Print the last N events, all kinds (default: the 40 that tell most)", false,
      [o](const std::string& text) {
        o->events = {static_cast<unsigned>(number_of(text, 0, engine::Trace::kRingSize)), true};
      });
  add("--times", "N", "Replay N times and compare (default: 1)", false,
      [o](const std::string& text) {
        o->times = static_cast<unsigned>(number_of(text, 1, 1'000'000));
      });
  add("--quiet", "", "Only the last line", false, [o](const std::string&) { o->quiet = true; });
  add("--no-fork", "", "Replay in this process, for a debugger", false,
      [o](const std::string&) { o->fork = false; });
  command.run = [options, program] { return run_replay(*options, program); };
  return command;
}

}  // namespace sd::torture
