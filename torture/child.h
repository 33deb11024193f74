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

// CPU time that a process has used, in ns; 0 if it is gone.
uint64_t cpu_time_ns(pid_t pid);

// Why a process that should get on does not.
enum class Stuck {
  no,
  busy,    // it uses CPU time
  asleep,  // it waits for something that does not come, say a lock that it holds itself
};

// How a process ended.
struct Ending {
  Stuck stuck = Stuck::no;  // why its watchdog has ended it
  int signal = 0;           // that ended it, or 0
  int code = 0;             // else its exit code
  bool ok() const { return stuck == Stuck::no && signal == 0 && code == 0; }
};

// Sees whether a process that should get on does. "Getting on" is any change of the number given;
// time is the process' own CPU time, so a loaded machine or a stopped process does no harm. Nor has
// a process that computes a reason to sleep for long.
class Watchdog {
 public:
  // An execution takes a step every few nanoseconds, and under a sanitizer on a busy machine every
  // few microseconds: no step in so much CPU time means a loop without a scheduling point in it.
  static constexpr uint64_t kPatienceNs = 20'000'000'000;

  // Asleep at every look for so long, of wall time between looks.
  static constexpr uint64_t kSleepPatienceNs = 10'000'000'000;

  explicit Watchdog(uint64_t patience_ns = kPatienceNs,
                    uint64_t sleep_patience_ns = kSleepPatienceNs)
      : patience_ns_(patience_ns), sleep_patience_ns_(sleep_patience_ns) {}

  void watch(pid_t pid);
  // Whether no progress was seen for too long. To be called a few times per second.
  Stuck look(uint64_t progress);

 private:
  bool asleep() const;

  uint64_t patience_ns_;
  uint64_t sleep_patience_ns_;
  pid_t pid_ = 0;
  uint64_t progress_ = 0;
  uint64_t since_ns_ = 0;  // CPU time at the last progress
  uint64_t look_ns_ = 0;   // wall time of the last look
  uint64_t slept_ns_ = 0;  // wall time that it has slept, as far as looks can tell
};

// Forks. The child gets no terminal signals, dies with its parent, and ends by _exit with what
// `body` returns. Throws UserError(exit_environment) if the system has no more processes.
pid_t spawn(const std::function<int()>& body);

// waitpid, and what came of it and how much CPU time it took; blocks unless `nonblocking`, then
// false if it still runs.
bool reap(pid_t pid, bool nonblocking, Ending* ending, uint64_t* cpu_ns = nullptr);

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
    const std::function<uint64_t()>& progress, Watchdog watchdog = Watchdog());

}  // namespace sd::torture
