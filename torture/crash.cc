#include "torture/crash.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

#include "torture/parse.h"

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

// "sd::smp::(anonymous namespace)::flush(int)" is "flush".
std::string plain_function(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string text(name);
  for (size_t at = 0; (at = text.find(kAnonymous)) != std::string::npos;) {
    text.erase(at, kAnonymous.size());
  }
  text.resize(std::min(text.find('('), text.size()));
  if (const size_t scope = text.rfind("::"); scope != std::string::npos) text.erase(0, scope + 2);
  return text;
}

// A line of a backtrace: "  #3 0x12 in sd::smp::f(int) /tree/core/smp/f.cc:3:5", or without "0x12
// in". The function, if its file is of the code under test.
std::string frame_under_test(std::string_view line) {
  const size_t number = line.find_first_not_of(' ');
  if (number == std::string_view::npos || line[number] != '#') return {};
  const bool under_test = line.find("/core/smp/") != std::string_view::npos ||
                          line.find("/core/kernel/") != std::string_view::npos ||
                          line.find("/torture/scf/") != std::string_view::npos;
  if (!under_test) return {};
  const size_t in = line.find(" in ");
  size_t start = in == std::string_view::npos ? line.find(' ', number) + 1 : in + 4;
  return plain_function(line.substr(start, line.find(" /", start) - start));
}

// The innermost function of the code under test in a backtrace; "" if there is none.
std::string function_under_test(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (std::string function = frame_under_test(text.substr(0, end)); !function.empty()) {
      return function;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

struct Tool {
  std::string_view name;
  const char* short_name;
};
constexpr Tool kTools[] = {{"AddressSanitizer", "asan"},
                           {"ThreadSanitizer", "tsan"},
                           {"UndefinedBehaviorSanitizer", "ubsan"},
                           {"LeakSanitizer", "lsan"}};

// Of a sanitizer's report, what tells about the code under test: the first report, without frames
// of the simulator, and without who created which fiber.
std::string shortened(std::string_view text) {
  std::string out;
  bool skip = false;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("SUMMARY: ")) break;
    const size_t first = line.find_first_not_of(' ');
    const bool frame = first != std::string::npos && line[first] == '#';
    if (!frame) skip = line.find("created by") != std::string::npos;
    if (skip || (frame && frame_under_test(line).empty())) continue;
    // "(shootdown+0x12) (BuildId: ...)" says nothing that file and line do not.
    out += line.substr(0, frame ? line.find(" (shootdown+0x") : std::string::npos) + "\n";
  }
  return out;
}

// The kind of error ends where a file, a module or an address begins.
std::string_view kind_of_error(std::string_view rest) {
  size_t end = 0;
  while (end < rest.size()) {
    const size_t space = std::min(rest.find(' ', end), rest.size());
    const std::string_view word = rest.substr(end, space - end);
    if (word.find_first_of("/.(:") != std::string_view::npos || word.starts_with("0x")) break;
    end = std::min(space + 1, rest.size());
  }
  std::string_view kind = rest.substr(0, end);
  while (kind.ends_with(' ')) kind.remove_suffix(1);
  return kind.empty() ? "error" : kind;
}

// "SUMMARY: AddressSanitizer: heap-use-after-free core/smp/call.cc:12:3 in sd::smp::f(int)" becomes
// id "asan-heap-use-after-free" and function "f", or the one nearest to it of the code under test.
bool read_summary(std::string_view text, Failure* failure) {
  const std::string_view line = line_with(text, "SUMMARY: ");
  for (const Tool& tool : kTools) {
    const size_t at = line.find(tool.name);
    if (at == std::string_view::npos) continue;
    std::string_view rest = line.substr(at + tool.name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(": "), rest.size()));
    const std::string kind(kind_of_error(rest));
    failure->kind = FailureKind::sanitizer;
    failure->id = std::string(tool.short_name) + "-" + kind;
    std::replace(failure->id.begin(), failure->id.end(), ' ', '-');
    if (failure->id == "tsan-data-race") failure->id = "data-race";
    failure->function = function_under_test(text);
    if (const size_t in = rest.rfind(" in ");
        in != std::string_view::npos && failure->function.empty()) {
      failure->function = plain_function(rest.substr(in + 4));
    }
    failure->message = std::string(tool.name) + " ended the process: " + kind;
    failure->detail = shortened(text);
    return true;
  }
  return false;
}

}  // namespace

Failure failure_of_death(const Ending& ending, const std::string& standard_error) {
  Failure failure;
  failure.kind = FailureKind::crash;
  failure.detail = standard_error;
  if (ending.stuck != Stuck::no) {
    constexpr uint64_t kSecond = 1'000'000'000;
    const bool busy = ending.stuck == Stuck::busy;
    failure.kind = FailureKind::livelock;
    failure.id = "stuck";
    failure.message =
        busy ? "the process took no step for " + std::to_string(Watchdog::kPatienceNs / kSecond) +
                   " s of CPU time: a loop without a scheduling point in it"
             : "the process slept for " + std::to_string(Watchdog::kSleepPatienceNs / kSecond) +
                   " s: it waits for something outside the simulation";
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

void read_race(const std::string& standard_error, Failure* failure) {
  Failure read;
  if (!read_summary(standard_error, &read)) return;
  if (!read.function.empty()) failure->function = read.function;
  failure->detail = read.detail;
}

}  // namespace sd::torture
