#include "torture/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>

#include "core/engine/check.h"
#include "torture/user_error.h"

namespace sd::torture {

Capture::Capture() : fd_(::memfd_create("shootdown-stderr", MFD_CLOEXEC)) {
  if (fd_ < 0) environment_error(std::string("memfd_create: ") + std::strerror(errno));
  ::fcntl(fd_, F_SETFL, O_APPEND);
}

Capture::~Capture() {
  ::close(fd_);
}

void Capture::redirect() const {
  ::dup2(fd_, STDOUT_FILENO);
  ::dup2(fd_, STDERR_FILENO);
}

void Capture::trim() const {
  constexpr off_t kMost = 1 << 20;
  std::fflush(stdout);
  if (::lseek(fd_, 0, SEEK_END) > kMost) (void)!::ftruncate(fd_, 0);
}

std::string Capture::text() const {
  constexpr off_t kMost = 1 << 20;
  const off_t size = ::lseek(fd_, 0, SEEK_END);
  std::string text(static_cast<size_t>(std::min(std::max<off_t>(size, 0), kMost)), '\0');
  const ssize_t n = ::pread(fd_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  return text;
}

namespace {

// 0 if the clock cannot be read: its process is gone.
uint64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t nanoseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1000;
}

}  // namespace

uint64_t cpu_time_ns(pid_t pid) {
  clockid_t clock = 0;
  return ::clock_getcpuclockid(pid, &clock) == 0 ? read_clock_ns(clock) : 0;
}

void Watchdog::watch(pid_t pid) {
  *this = Watchdog(patience_ns_, sleep_patience_ns_);
  pid_ = pid;
}

Stuck Watchdog::look(uint64_t progress) {
  // A look that comes late says nothing about the time before it: the observer itself was stopped.
  constexpr uint64_t kLongestLookNs = 1'000'000'000;
  const uint64_t now_ns = cpu_time_ns(pid_);
  const uint64_t wall_ns = read_clock_ns(CLOCK_MONOTONIC);
  if (now_ns == 0) return Stuck::no;
  const bool moved = progress != progress_ || since_ns_ == 0;
  if (moved) {
    progress_ = progress;
    since_ns_ = now_ns;
  }
  if (moved || !asleep()) {
    slept_ns_ = 0;
  } else {
    slept_ns_ += std::min(wall_ns - look_ns_, kLongestLookNs);
  }
  look_ns_ = wall_ns;
  if (now_ns - since_ns_ > patience_ns_) return Stuck::busy;
  return slept_ns_ > sleep_patience_ns_ ? Stuck::asleep : Stuck::no;
}

// Not stopped, not waiting for a disk, not waiting for a CPU.
bool Watchdog::asleep() const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
  std::string stat;
  std::getline(in, stat);
  const size_t name_end = stat.rfind(')');  // the name itself may hold anything
  return name_end != std::string::npos && stat.compare(name_end, 3, ") S") == 0;
}

pid_t spawn(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    environment_error(std::string("cannot start a worker: ") + std::strerror(errno) +
                      "; raise the limit on processes (ulimit -u) or lower --jobs");
  }
  if (pid > 0) return pid;

  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it died before prctl
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int code = 0;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shootdown: internal error: %s\n", error.what());
    std::fflush(nullptr);
    std::abort();
  }
  std::fflush(nullptr);
  ::_exit(code);
}

bool reap(pid_t pid, bool nonblocking, Ending* ending, uint64_t* cpu_ns) {
  int status = 0;
  pid_t got = 0;
  rusage usage{};
  do {
    got = ::wait4(pid, &status, nonblocking ? WNOHANG : 0, &usage);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return false;
  SD_CHECK(got == pid);
  ending->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (cpu_ns) *cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  return true;
}

void send_all(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    done += static_cast<size_t>(n);
  }
}

ChildResult run_in_child(
    const std::function<void(const std::function<void(const std::string&)>& send)>& body,
    const std::function<uint64_t()>& progress, Watchdog watchdog) {
  ChildResult result;
  Capture capture;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    environment_error(std::string("pipe: ") + std::strerror(errno));
  const pid_t pid = spawn([&] {
    ::close(ends[0]);
    capture.redirect();
    body([&](const std::string& text) { send_all(ends[1], text); });
    return 0;
  });
  ::close(ends[1]);

  watchdog.watch(pid);
  while (true) {
    constexpr int kLookMs = 500;
    pollfd poll_fd{ends[0], POLLIN, 0};
    const int ready = ::poll(&poll_fd, 1, kLookMs);
    if (ready == 0 && result.ending.stuck == Stuck::no) {
      result.ending.stuck = watchdog.look(progress());
      if (result.ending.stuck != Stuck::no) ::kill(pid, SIGKILL);
    }
    if (ready <= 0) continue;
    char buffer[1 << 14];
    const ssize_t n = ::read(ends[0], buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.output.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  reap(pid, false, &result.ending);
  result.standard_error = capture.text();
  return result;
}

}  // namespace sd::torture
