#include "torture/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "core/engine/choice_log.h"
#include "core/engine/rng.h"
#include "torture/crash.h"
#include "torture/out_dir.h"
#include "torture/replay_text.h"
#include "torture/rerun.h"
#include "torture/signature.h"
#include "torture/user_error.h"
#include "torture/wire.h"
#include "torture/worker.h"

namespace sd::torture {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How often totals, deadline and watchdogs are looked at.
constexpr milliseconds kTick{100};
// The same while workers are to pause: they wait.
constexpr milliseconds kPauseTick{1};
// How often the state is written without being asked for.
constexpr milliseconds kSavePeriod{30'000};
// So many processes in a row that end before their first execution, and a worker is given up.
constexpr unsigned kMostBarren = 3;

// SIGINT, SIGTERM, SIGHUP and SIGUSR1 as readable events, for as long as this lives. They stay
// blocked after that: one that comes while the verdict is written must not keep it from being
// written, and one between two runs ends the second.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0) environment_error(std::string("signalfd: ") + std::strerror(errno));
  }
  ~Signals() { ::close(fd_); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_; }
  // What has arrived since the last call.
  struct Arrived {
    unsigned to_end = 0;
    bool to_save = false;
  };
  Arrived take() const {
    Arrived arrived;
    signalfd_siginfo info;
    while (::read(fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      if (info.ssi_signo == SIGUSR1) {
        arrived.to_save = true;
      } else {
        arrived.to_end++;
      }
    }
    return arrived;
  }

 private:
  int fd_ = -1;
};

// Memory that forked processes share: one SharedCounters, and a page per worker.
class SharedMemory {
 public:
  explicit SharedMemory(unsigned workers)
      : size_(sizeof(SharedCounters) + kAlign + workers * sizeof(WorkerPage)) {
    memory_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) environment_error(std::string("mmap: ") + std::strerror(errno));
    counters_ = new (memory_) SharedCounters;
  }
  ~SharedMemory() { ::munmap(memory_, size_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  SharedCounters* counters() const { return counters_; }
  // A fresh page for worker i.
  WorkerPage* fresh_page(unsigned i) const {
    constexpr size_t kFirst = (sizeof(SharedCounters) + kAlign - 1) / kAlign * kAlign;
    return new (static_cast<char*>(memory_) + kFirst + i * sizeof(WorkerPage)) WorkerPage;
  }

 private:
  static constexpr size_t kAlign = alignof(WorkerPage);
  size_t size_;
  void* memory_ = nullptr;
  SharedCounters* counters_ = nullptr;
};

struct WorkerProcess {
  unsigned number = 0;
  pid_t pid = 0;  // 0: none runs
  int pipe = -1;
  std::string bytes;  // of a finding that is not whole yet
  std::unique_ptr<Capture> capture;
  std::unique_ptr<engine::ChoiceLog> log;
  WorkerPage* page = nullptr;
  Totals totals;   // of the process that runs
  Totals earlier;  // of the processes before it
  Watchdog watchdog;
  Stuck stuck = Stuck::no;  // the watchdog has ended it
  unsigned barren = 0;      // processes in a row that have begun nothing
  bool given_up = false;    // the supervisor has ended it, and wants nothing of it
};

class Supervisor {
 public:
  Supervisor(const TortureOptions& options, const std::string& program, RunListener* listener)
      : options_(options),
        program_(program),
        listener_(listener),
        out_(options.out),
        memory_(worker_count(options)),
        workers_(worker_count(options)) {
    if (!options.earlier) return;
    const RunState& earlier = *options.earlier;
    lost_ = earlier.totals;
    groups_ = earlier.groups;
    SharedCounters* shared = memory_.counters();
    shared->next = earlier.next;
    shared->left_count = earlier.unfinished.size();
    std::copy(earlier.unfinished.begin(), earlier.unfinished.end(), shared->left);
    earlier_elapsed_ = earlier.elapsed;
  }

  RunResult run() {
    listener_->on_start();
    if (!out_.error().empty()) note_trouble(out_.error());
    start_time_ = Clock::now();
    next_save_ = start_time_ + kSavePeriod;
    memory_.counters()->limit = options_.executions.value_or(std::numeric_limits<uint64_t>::max());
    save_state();  // so that there is one, whatever comes
    for (unsigned i = 0; i < workers_.size(); i++) {
      workers_[i].number = i;
      start(workers_[i]);
    }
    while (
        std::any_of(workers_.begin(), workers_.end(), [](const auto& w) { return w.pid != 0; })) {
      wait_for_something();
      tick();
    }
    if (first_) {
      const auto at = group_of(first_->signature);
      if (at == groups_.end()) {
        settle(groups_.emplace_back(), std::move(*first_), true);
      } else {
        at->count++;  // of an earlier part of the run
      }
    }
    save_state();
    return result();
  }

 private:
  static unsigned worker_count(const TortureOptions& options) {
    const uint64_t most = options.executions
                              ? std::max<uint64_t>(options.shard.share_of(*options.executions), 1)
                              : options.jobs;
    return static_cast<unsigned>(std::min<uint64_t>(options.jobs, most));
  }

  void start(WorkerProcess& worker) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      environment_error(std::string("pipe: ") + std::strerror(errno));
    worker.page = memory_.fresh_page(worker.number);
    worker.capture = std::make_unique<Capture>();
    // Where the disk has no room, memory has to do: it survives the worker, though not the machine.
    std::string error;
    worker.log = engine::ChoiceLog::create(out_.choices_path(worker.number),
                                           engine::ChoiceLog::kDefaultCapacity, &error);
    if (worker.log == nullptr) worker.log = engine::ChoiceLog::in_memory();
    worker.bytes.clear();
    worker.totals = Totals{};
    worker.stuck = Stuck::no;

    WorkerTask task;
    task.scenario = &options_.scenario;
    task.seed = *options_.seed;
    task.shard = options_.shard;
    task.keep_going = options_.keep_going;
    task.check_determinism = options_.check_determinism;
    task.shared = memory_.counters();
    task.page = worker.page;
    task.log = worker.log.get();
    task.capture = worker.capture.get();
    task.pipe = ends[1];
    worker.pid = spawn([&] { return run_worker(task); });
    ::close(ends[1]);
    worker.pipe = ends[0];
    worker.watchdog.watch(worker.pid);
  }

  void wait_for_something() {
    std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0}};
    std::vector<WorkerProcess*> owners = {nullptr};
    for (WorkerProcess& worker : workers_) {
      if (worker.pid == 0) continue;
      fds.push_back({worker.pipe, POLLIN, 0});
      owners.push_back(&worker);
    }
    const milliseconds patience = pause_start_ ? kPauseTick : kTick;
    if (::poll(fds.data(), fds.size(), static_cast<int>(patience.count())) <= 0) return;
    if (fds[0].revents != 0) on_signals(signals_.take());
    for (size_t i = 1; i < fds.size(); i++) {
      if (fds[i].revents != 0) read_pipe(*owners[i]);
    }
  }

  void read_pipe(WorkerProcess& worker) {
    char buffer[1 << 16];
    const ssize_t n = ::read(worker.pipe, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) {
      on_end(worker);
      return;
    }
    worker.bytes.append(buffer, static_cast<size_t>(n));
    while (auto finding = decode(&worker.bytes)) on_finding(std::move(*finding));
  }

  void on_signals(const Signals::Arrived& arrived) {
    if (arrived.to_save) pause();
    if (arrived.to_end == 0) return;
    signals_seen_ += arrived.to_end;
    interrupted_ = true;
    stop();
    if (signals_seen_ > 1) give_up(nullptr);
  }

  // No execution begins any more.
  void stop() {
    memory_.counters()->stop_at(0);
    if (!stop_time_) stop_time_ = Clock::now();
  }

  // Lets no execution begin until the state is written.
  void pause() {
    if (pause_start_ || stop_time_) return;
    memory_.counters()->paused = true;
    pause_start_ = Clock::now();
  }

  // Writes the state once all workers pause, or those that do not have an execution in hand that
  // takes long.
  void save_when_paused() {
    if (!pause_start_) return;
    const bool late = Clock::now() - *pause_start_ > kGrace;
    const bool paused = std::all_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
      if (worker.pid == 0) return true;
      const WorkerPhase phase = worker.page->phase.load();
      return phase == WorkerPhase::resting || (late && phase == WorkerPhase::running);
    });
    if (!paused && !late && !stop_time_) return;
    if (paused) {
      // What they have found is on its way; without it their executions would count as clean.
      if (std::any_of(workers_.begin(), workers_.end(), has_more_to_read)) return;
      save_state();
    }
    memory_.counters()->paused = false;
    pause_start_.reset();
    next_save_ = Clock::now() + kSavePeriod;
  }

  static bool has_more_to_read(const WorkerProcess& worker) {
    pollfd poll_fd{worker.pipe, POLLIN, 0};
    return worker.pid != 0 && ::poll(&poll_fd, 1, 0) > 0;
  }

  // Only while no worker is in the middle of taking an execution.
  void save_state() {
    update_totals();
    RunState state;
    state.scenario = options_.scenario;
    state.seed = *options_.seed;
    state.shard = options_.shard;
    state.duration = options_.duration;
    state.executions = options_.executions;
    state.keep_going = options_.keep_going;
    state.check_determinism = options_.check_determinism;
    const SharedCounters& shared = *memory_.counters();
    state.next = shared.next;
    state.unfinished = unfinished_;
    for (const WorkerProcess& worker : workers_) {
      if (worker.pid != 0) add_unfinished(worker, &state.unfinished);
    }
    for (uint64_t i = shared.left_taken; i < shared.left_count; i++)
      state.unfinished.push_back(shared.left[i]);
    std::sort(state.unfinished.begin(), state.unfinished.end());
    state.totals = totals_;
    state.groups = groups_;
    finish_groups(&state.groups, &state.totals);
    state.elapsed = elapsed();
    const std::string error = out_.save_state(state_json(state));
    if (!error.empty()) note_trouble(error);
  }

  void note_trouble(const std::string& what) {
    if (!output_error_.empty()) return;
    output_error_ = what;
    listener_->on_trouble(what);
  }

  // Whether the worker has begun an execution and not done it; `current` it is.
  static bool in_hand(const WorkerProcess& worker) {
    return worker.page->begun.load() != worker.totals.executions;
  }

  // What the worker has taken and not done.
  static void add_unfinished(const WorkerProcess& worker, std::vector<uint64_t>* out) {
    if (in_hand(worker) || worker.page->phase.load() == WorkerPhase::refused)
      out->push_back(worker.page->current.load());
  }

  milliseconds elapsed() const {
    return earlier_elapsed_ + std::chrono::duration_cast<milliseconds>(Clock::now() - start_time_);
  }

  milliseconds cpu_time() const {
    uint64_t ns = ended_cpu_ns_;
    for (const WorkerProcess& worker : workers_) {
      if (worker.pid != 0) ns += cpu_time_ns(worker.pid);
    }
    return milliseconds(ns / 1'000'000);
  }

  // Ends all workers that are left, and counts them unless that is what the user wants.
  void give_up(unsigned* count) {
    for (WorkerProcess& worker : workers_) {
      if (worker.pid == 0 || worker.given_up) continue;
      worker.given_up = true;
      if (count) ++*count;
      ::kill(worker.pid, SIGKILL);
    }
  }

  void update_totals() {
    Totals totals = lost_;
    for (WorkerProcess& worker : workers_) {
      if (worker.pid != 0) worker.page->totals.read(&worker.totals);
      totals.add(worker.earlier);
      totals.add(worker.totals);
    }
    totals_ = totals;
  }

  void tick() {
    const auto now = Clock::now();
    update_totals();
    for (WorkerProcess& worker : workers_) {
      if (worker.pid == 0 || worker.stuck != Stuck::no || pause_start_) continue;
      worker.stuck = worker.watchdog.look(worker.log->pulse());
      if (worker.stuck != Stuck::no) ::kill(worker.pid, SIGKILL);
    }
    if (options_.duration && elapsed() >= *options_.duration) stop();
    if (options_.cpu_budget && cpu_time() >= *options_.cpu_budget) stop();
    if (stop_time_ && now - *stop_time_ > kGrace && totals_.executions > 0) give_up(&given_up_);
    if (now > next_save_) pause();
    save_when_paused();
    listener_->on_progress(totals_, elapsed());
  }

  void on_end(WorkerProcess& worker) {
    ::close(worker.pipe);
    worker.pipe = -1;
    Ending ending;
    uint64_t cpu_ns = 0;
    reap(worker.pid, false, &ending, &cpu_ns);
    ended_cpu_ns_ += cpu_ns;
    worker.pid = 0;
    ending.stuck = worker.stuck;
    worker.page->totals.read(&worker.totals);
    const bool well = ending.ok() || worker.given_up;
    const bool retired = worker.page->retired.load(std::memory_order_relaxed);
    if (well || worker.page->phase.load() == WorkerPhase::refused)
      add_unfinished(worker, &unfinished_);
    if (!well && !retired) on_death(worker, ending);
    worker.earlier.add(worker.totals);
    worker.totals = Totals{};
    if (options_.keep_going && !stop_time_ && (retired || !well)) restart(worker);
  }

  // Puts another process in the place of one that has ended before its time.
  void restart(WorkerProcess& worker) {
    const bool barren = worker.page->begun.load() == 0;
    worker.barren = barren ? worker.barren + 1 : 0;
    if (worker.barren == kMostBarren) return;
    try {
      start(worker);
    } catch (const UserError& error) {
      note_trouble(error.what());  // the others go on without it
    }
  }

  // A worker has died: what it had in hand, or else what it did last, becomes a failure.
  void on_death(const WorkerProcess& worker, const Ending& ending) {
    std::string log_error;
    engine::LoggedExecution logged =
        worker.log->read(&log_error).value_or(engine::LoggedExecution{});
    const uint64_t current = worker.page->current.load();
    if (logged.execution != current) logged = {};  // it did not come to its first choice
    Replay replay;
    replay.scenario = options_.scenario;
    replay.strategy = options_.scenario.strategy;
    replay.seed = engine::execution_seed(*options_.seed, current);
    replay.choices = logged.choices;

    Finding finding;
    finding.execution = current;
    finding.standard_error = worker.capture->text();
    finding.failure = failure_of_death(ending, finding.standard_error);
    // Only another process that does the same can say where it was.
    std::string trouble;
    const Rerun rerun = rerun_if_possible(replay, ShownEvents{}, &trouble);
    const bool again = rerun.died && rerun.failure.id == finding.failure.id;
    if (again) {
      finding.failure = rerun.failure;
      finding.events = rerun.events;
    } else if (!trouble.empty()) {
      finding.remark = "it could not be replayed: " + trouble;
    } else {
      finding.remark =
          "a replay of it does not die of that: it was ended from outside, or depends on more than "
          "its choices";
    }
    if (logged.overflowed) finding.remark = "only the first of its choices could be kept";
    if (!log_error.empty()) finding.remark = "its choices are lost: " + log_error;
    finding.verified = true;
    finding.signature = signature(finding.failure, options_.scenario);
    replay.signature = finding.signature;
    finding.replay = replay_text(replay);

    if (in_hand(worker)) {
      lost_.executions++;
      lost_.choices += logged.choices.size();
    }
    if (!options_.keep_going) memory_.counters()->stop_at(current);
    on_finding(std::move(finding));
  }

  void on_finding(Finding finding) {
    if (!options_.keep_going) {
      if (!first_ || finding.execution < first_->execution) first_ = std::move(finding);
      return;
    }
    const auto at = group_of(finding.signature);
    if (at == groups_.end()) {
      settle(groups_.emplace_back(), std::move(finding), true);
      pause();  // and write the state: what has been told is in it from now on
      return;
    }
    at->count++;
    if (finding.first() && finding.execution < at->finding.execution) {
      at->count--;
      settle(*at, std::move(finding), false);
    }
  }

  std::vector<Group>::iterator group_of(const std::string& signature) {
    return std::find_if(groups_.begin(), groups_.end(),
                        [&](const Group& group) { return group.finding.signature == signature; });
  }

  // Checks that the finding replays, writes its files, and reports it. It becomes the one of its
  // group.
  void settle(Group& group, Finding finding, bool is_new) {
    Report report;
    report.program = program_;
    if (!finding.verified) finding.remark = why_not_replayed(finding);
    report.files = out_.files_for(finding);
    report.finding = std::move(finding);
    if (const std::string error = out_.save(report, !is_new); !error.empty()) {
      note_trouble(error);
      report.files = {};
    }
    if (is_new) listener_->on_report(report.text());
    group.count++;
    group.files = report.files;
    group.finding = std::move(report.finding);
    group.finding.replay.clear();
    group.finding.events.clear();
    group.finding.standard_error.clear();
  }

  // A process of its own may not be had; *trouble says why.
  static Rerun rerun_if_possible(const Replay& replay, const ShownEvents& events,
                                 std::string* trouble) {
    try {
      return rerun_in_child(replay, events);
    } catch (const UserError& error) {
      *trouble = error.what();
      return {};
    }
  }

  // Empty if it replays.
  static std::string why_not_replayed(const Finding& finding) {
    const Replay replay = parse_replay(finding.replay, finding.signature);
    std::string trouble;
    const Rerun rerun = rerun_if_possible(replay, ShownEvents{0, false}, &trouble);
    if (!trouble.empty()) return "it could not be replayed: " + trouble;
    if (rerun.signature == replay.signature && rerun.trace_hash == replay.trace_hash) return {};
    const std::string what = rerun.diverged ? rerun.divergence
                             : rerun.failed ? "it ends in " + rerun.signature
                                            : "it does not fail";
    return "a replay of it is not the same: " + what +
           "; this is a bug of shootdown itself, please report it";
  }

  RunResult result() {
    RunResult result;
    result.totals = totals_;
    result.groups = std::move(groups_);
    finish_groups(&result.groups, &result.totals);
    result.interrupted = interrupted_;
    result.given_up = given_up_;
    result.output_error = output_error_;
    result.elapsed = elapsed();
    result.cpu_time = cpu_time();
    return result;
  }

  const TortureOptions& options_;
  const std::string program_;
  RunListener* listener_;
  OutDir out_;
  std::string output_error_;  // what the environment did not allow first, with the remedy
  Signals signals_;
  SharedMemory memory_;
  std::vector<WorkerProcess> workers_;

  Clock::time_point start_time_;
  milliseconds earlier_elapsed_{0};  // of the parts of the run before this one
  uint64_t ended_cpu_ns_ = 0;        // of workers that have ended
  Clock::time_point next_save_;
  std::optional<Clock::time_point> pause_start_;
  std::vector<uint64_t> unfinished_;  // taken by workers that are gone, and not done
  std::optional<Clock::time_point> stop_time_;
  unsigned signals_seen_ = 0;
  bool interrupted_ = false;
  unsigned given_up_ = 0;

  Totals totals_;  // of all workers, at the last tick
  Totals lost_;    // of earlier parts of the run, and what workers that died had not published
  std::vector<Group> groups_;
  std::optional<Finding> first_;  // without keep_going: the one with the lowest number so far
};

}  // namespace

RunResult supervise(const TortureOptions& options, const std::string& program,
                    RunListener* listener) {
  return Supervisor(options, program, listener).run();
}

}  // namespace sd::torture
