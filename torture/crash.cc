#include "torture/crash.h"

#include <csignal>
#include <cstring>
#include <string_view>

namespace sd::torture {

namespace {

using engine::Failure;
using engine::FailureKind;

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name;
}

// The line that starts with `start`, from there on; empty if there is none.
std::string_view line_with(std::string_view text, std::string_view start) {
  const size_t at = text.find(start);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at);
  return text.substr(0, text.find('\n'));
}

// "SUMMARY: AddressSanitizer: heap-use-after-free core/smp/call.cc:12:3 in sd::smp::f(int)" becomes
// id "asan-heap-use-after-free" and function "f".
bool read_summary(std::string_view text, Failure* failure) {
  std::string_view line = line_with(text, "SUMMARY: ");
  struct Tool {
    std::string_view name;
    const char* short_name;
  };
  for (const Tool tool :
       {Tool{"AddressSanitizer", "asan"}, Tool{"ThreadSanitizer", "tsan"},
        Tool{"UndefinedBehaviorSanitizer", "ubsan"}, Tool{"LeakSanitizer", "lsan"}}) {
    const size_t at = line.find(tool.name);
    if (at == std::string_view::npos) continue;
    std::string_view rest = line.substr(at + tool.name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(": "), rest.size()));
    failure->kind = FailureKind::sanitizer;
    failure->message = "the sanitizer ended the process: " + std::string(line.substr(at));
    // The kind of error ends where a file, a module or an address begins.
    size_t end = 0;
    while (end < rest.size()) {
      const size_t space = std::min(rest.find(' ', end), rest.size());
      const std::string_view word = rest.substr(end, space - end);
      if (word.find_first_of("/.(:") != std::string_view::npos || word.starts_with("0x")) break;
      end = std::min(space + 1, rest.size());
    }
    std::string kind(rest.substr(0, end));
    while (kind.ends_with(' ')) kind.pop_back();
    for (char& c : kind) c = c == ' ' ? '-' : c;
    failure->id = std::string(tool.short_name) + "-" + (kind.empty() ? "error" : kind);
    const size_t in = rest.rfind(" in ");
    if (in == std::string_view::npos) return true;
    std::string_view function = rest.substr(in + 4);
    function = function.substr(0, function.find('('));
    if (const size_t scope = function.rfind("::"); scope != std::string_view::npos) {
      function.remove_prefix(scope + 2);
    }
    failure->function = function;
    return true;
  }
  return false;
}

}  // namespace

Failure failure_of_death(const Ending& ending, const std::string& standard_error) {
  Failure failure;
  failure.kind = FailureKind::crash;
  failure.detail = standard_error;
  if (ending.stuck) {
    failure.kind = FailureKind::livelock;
    failure.id = "stuck";
    failure.message = "the process took no step for " +
                      std::to_string(Watchdog::kPatienceNs / 1'000'000'000) +
                      " s of CPU time: a loop without a scheduling point in it";
    return failure;
  }
  if (read_summary(standard_error, &failure)) return failure;
  const std::string_view internal = line_with(standard_error, "shootdown: internal error: ");
  if (!internal.empty()) {
    failure.id = "internal-error";
    failure.message = internal.substr(std::strlen("shootdown: "));
    return failure;
  }
  if (ending.signal != 0) {
    failure.id = signal_name(ending.signal);
    failure.message = std::string("the process was ended by ") + failure.id + " (" +
                      ::strsignal(ending.signal) + ")";
    return failure;
  }
  failure.id = "exit-" + std::to_string(ending.code);
  failure.message = "the process ended with exit code " + std::to_string(ending.code);
  return failure;
}

}  // namespace sd::torture
