// Child processes: everything that runs code under test runs in one, so that whatever it does to
// its process, the verdict is still printed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace sd::torture {

// An anonymous file that a child's stdout and stderr go to.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // In the child: stdout and stderr go here from now on.
  void redirect() const;
  // In the child, now and then: forgets what was captured if it is much, so that it stays bounded.
  void trim() const;
  // The last part of what was captured.
  std::string text() const;

 private:
  int fd_ = -1;
};

// How a process ended.
struct Ending {
  bool stuck = false;  // was ended by its watchdog
  int signal = 0;      // that ended it, or 0
  int code = 0;        // else its exit code
  bool ok() const { return !stuck && signal == 0 && code == 0; }
};

// Sees whether a process that should get on does. "Getting on" is any change of the number given;
// time is the process' own CPU time, so a loaded machine or a stopped process does no harm.
class Watchdog {
 public:
  // An execution takes a step every few nanoseconds, and under a sanitizer on a busy machine every
  // few microseconds: no step in so much CPU time means a loop without a scheduling point in it.
  static constexpr uint64_t kPatienceNs = 20'000'000'000;

  explicit Watchdog(uint64_t patience_ns = kPatienceNs) : patience_ns_(patience_ns) {}

  void watch(pid_t pid) {
    pid_ = pid;
    progress_ = 0;
    since_ns_ = 0;
  }
  // Whether no progress was seen for too long.
  bool expired(uint64_t progress);

 private:
  uint64_t patience_ns_;
  pid_t pid_ = 0;
  uint64_t progress_ = 0;
  uint64_t since_ns_ = 0;
};

// Forks. The child gets no terminal signals, dies with its parent, and ends by _exit with what
// `body` returns. Throws UserError(exit_environment) if the system has no more processes.
pid_t spawn(const std::function<int()>& body);

// waitpid, and what came of it; blocks unless `nonblocking`, then false if it still runs.
bool reap(pid_t pid, bool nonblocking, Ending* ending);

// Writes all of it to a pipe, unless nobody reads any more.
void send_all(int pipe, const std::string& text);

struct ChildResult {
  Ending ending;
  std::string output;          // what body returned, or sent before the process ended
  std::string standard_error;  // and stdout
};

// Runs body(send) in a child and waits. Whatever `send` was given, also before a crash, is the
// output. `progress` is polled for the watchdog.
ChildResult run_in_child(
    const std::function<void(const std::function<void(const std::string&)>& send)>& body,
    const std::function<uint64_t()>& progress, uint64_t patience_ns = Watchdog::kPatienceNs);

}  // namespace sd::torture
