#include "torture/report.h"

#include <fmt/core.h>

#include "core/machine/machine.h"
#include "core/oracle/oracles.h"
#include "torture/event_table.h"
#include "torture/parse.h"
#include "torture/telling_events.h"

namespace sd::torture {

namespace {

using engine::Failure;
using engine::FailureKind;

// What a reader is to think of when it says hang, not: invariant hang.
const char* kind_text(FailureKind kind) {
  switch (kind) {
    case FailureKind::invariant:
      return "an invariant is violated";
    case FailureKind::warning:
      return "the stack warns";
    case FailureKind::bug:
      return "the stack stops at a BUG";
    case FailureKind::use_after_free:
      return "memory is used after it was freed";
    case FailureKind::data_race:
      return "there is a data race";
    case FailureKind::hang:
      return "nothing can run any more";
    case FailureKind::livelock:
      return "it runs, but never ends";
    case FailureKind::harness:
      return "the torture's own check fails";
    case FailureKind::sanitizer:
      return "a sanitizer stops the process";
    case FailureKind::crash:
      return "the process dies";
  }
  return "";
}

// Where a debugger should stop; a crash stops it anyway.
const char* place_to_stop(FailureKind kind) {
  if (kind == FailureKind::data_race) return "__tsan_on_report";
  if (kind == FailureKind::sanitizer) return "__sanitizer::Die";
  return "sd::machine::Machine::fail";
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n')) out += "  " + line + "\n";
  return out;
}

// What the invariant of that id demands; "" if it has no number.
std::string statement(const std::string& id) {
  for (const auto& info : oracle::oracle_table()) {
    if (id == info.id) return info.statement;
  }
  return {};
}

std::string place(const Failure& failure) {
  std::string out;
  if (failure.step == 0 && failure.task.empty()) return out;
  out = fmt::format("cpu{}, task {}", failure.cpu, failure.task.empty() ? "unknown" : failure.task);
  if (!failure.function.empty()) out += ", in " + failure.function + "()";
  return out + fmt::format(", step {}, virtual time {:.3f} us", failure.step,
                           static_cast<double>(failure.time_ns) / 1000);
}

}  // namespace

std::string events_report(const machine::Outcome& outcome, const ShownEvents& shown) {
  if (shown.count == 0) return {};
  const auto all = machine::trace().last(engine::Trace::kRingSize);
  const EventWords words(machine_names(), all);
  TellingEvents chosen;
  if (shown.all) {
    chosen.last = machine::trace().last(shown.count);
  } else {
    chosen = telling_events(all, shown.count, words, outcome.failure);
  }
  std::vector<engine::Event> both = chosen.before;
  both.insert(both.end(), chosen.last.begin(), chosen.last.end());
  EventTable table(words, both, outcome.failure.cpu);

  std::string out;
  if (!machine::kernel_log().empty()) {
    out += "Console:\n";
    for (const std::string& line : machine::kernel_log()) out += indented(line);
    out += "\n";
  }
  out += fmt::format("Last {} of {} events", chosen.last.size(), machine::trace().count());
  if (chosen.left_out > 0) {
    out += fmt::format(", {} other{} between them left out", chosen.left_out,
                       chosen.left_out == 1 ? "" : "s");
  }
  out += ":\n" + table.titles();
  if (!chosen.before.empty()) out += table.rows(chosen.before) + "      ...\n";
  return out + table.rows(chosen.last) + table.marker("^ " + outcome.failure.id);
}

std::string Report::body() const {
  const Failure& failure = finding.failure;
  std::string out = fmt::format("FAILURE {}: {}\n", finding.signature, kind_text(failure.kind));
  out += fmt::format("  {}: {}\n", failure.id, failure.message);
  if (const std::string demands = statement(failure.id); !demands.empty()) {
    out += fmt::format("  {} demands: {}\n", failure.id, demands);
  }
  if (const std::string where = place(failure); !where.empty()) out += "  at " + where + "\n";
  if (finding.execution != Finding::kNoRun) {
    out += fmt::format("  in execution {} of the run\n", finding.execution);
  }
  if (!finding.remark.empty()) out += "  " + finding.remark + "\n";
  if (!failure.detail.empty()) out += "\n" + indented(failure.detail);
  if (!finding.events.empty()) out += "\n" + finding.events;
  return out;
}

std::string Report::text() const {
  std::string out = body();
  if (files.replay.empty()) {
    constexpr size_t kSmall = 16 << 10;
    if (finding.replay.size() <= kSmall) {
      out += "\nThe replay file could not be written. Put these lines into a file to replay it:\n" +
             finding.replay;
    } else {
      out += fmt::format("\nThe replay file ({} KiB) could not be written.\n",
                         finding.replay.size() >> 10);
    }
    return out;
  }
  out += "\nFiles:\n  " + files.replay + "\n  " + files.report + "\n";
  if (!files.standard_error.empty()) out += "  " + files.standard_error + "\n";
  const std::string command = shell_word(program) + " replay ";
  const std::string file = shell_word(files.replay);
  out += "Replay it:\n  " + command + file + "\n";
  out += "Debug it:\n  gdb -ex 'break " + std::string(place_to_stop(finding.failure.kind)) +
         "' -ex run --args " + command + "--no-fork " + file + "\n";
  return out;
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%=,";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace sd::torture
