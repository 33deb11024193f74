#include "torture/rerun.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

#include "core/engine/check.h"
#include "core/engine/replay_chooser.h"
#include "core/machine/machine.h"
#include "torture/crash.h"
#include "torture/pulse.h"
#include "torture/runner.h"
#include "torture/signature.h"
#include "torture/wire.h"

namespace sd::torture {

namespace {

// Follows a recording. Ends the execution where it does not fit, and calls `at_last` when the last
// recorded choice is asked for: if the process is about to die, that is the last chance to look.
class Follower final : public engine::Chooser {
 public:
  Follower(std::vector<engine::Choice> choices, std::function<void()> at_last)
      : count_(choices.size()), replay_(std::move(choices)), at_last_(std::move(at_last)) {}

  void begin(uint64_t seed) override { replay_.begin(seed); }
  uint32_t pick(const engine::ActionSet& actions) override {
    return checked(replay_.pick(actions));
  }
  uint32_t number(uint32_t n, engine::Purpose purpose) override {
    return checked(replay_.number(n, purpose));
  }
  const char* description() const override { return replay_.description(); }

  const engine::ReplayChooser& replay() const { return replay_; }
  uint64_t left() const { return count_ - std::min(count_, replay_.position()); }

 private:
  uint32_t checked(uint32_t answer) {
    if (replay_.diverged()) {
      engine::Failure failure;
      failure.id = "diverged";
      const engine::Trace& trace = machine::trace();
      if (trace.count() > 0) failure.function = trace.recent(0).function;
      failure.step = machine::steps_now();
      machine::fail(std::move(failure));
    }
    if (at_last_ && replay_.position() >= count_) {
      at_last_();
      at_last_ = nullptr;
    }
    return answer;
  }

  uint64_t count_;
  engine::ReplayChooser replay_;
  std::function<void()> at_last_;
};

// What a child sends: a Finding as an envelope for a Rerun.
std::string packed(const Rerun& rerun) {
  Finding finding;
  finding.failure = rerun.failure;
  finding.signature = rerun.signature;
  finding.events = rerun.events;
  finding.replay = rerun.divergence;
  finding.standard_error =
      fmt::format("{} {} {} {} {} {}", rerun.complete ? 1 : 0, rerun.failed ? 1 : 0,
                  rerun.diverged ? 1 : 0, rerun.trace_hash, rerun.steps, rerun.choices_left);
  std::string bytes;
  encode(finding, &bytes);
  return bytes;
}

Rerun unpacked(const Finding& finding) {
  Rerun rerun;
  unsigned complete = 0;
  unsigned failed = 0;
  unsigned diverged = 0;
  unsigned long long hash = 0;
  unsigned long long steps = 0;
  unsigned long long left = 0;
  const int fields = std::sscanf(finding.standard_error.c_str(), "%u %u %u %llu %llu %llu",
                                 &complete, &failed, &diverged, &hash, &steps, &left);
  SD_CHECK(fields == 6);
  rerun.complete = complete != 0;
  rerun.failed = failed != 0;
  rerun.diverged = diverged != 0;
  rerun.failure = finding.failure;
  rerun.signature = finding.signature;
  rerun.events = finding.events;
  rerun.divergence = finding.replay;
  rerun.trace_hash = hash;
  rerun.steps = steps;
  rerun.choices_left = left;
  return rerun;
}

// What is known when the last recorded choice is about to be taken.
Rerun last_words(const ShownEvents& events) {
  Rerun rerun;
  machine::Outcome outcome;
  const engine::Trace& trace = machine::trace();
  engine::Failure& failure = rerun.failure;
  failure.step = machine::steps_now();
  if (trace.count() > 0) {
    const engine::Event& last = trace.recent(0);
    failure.function = last.function;
    failure.cpu = last.cpu;
    failure.task = machine::task_name(last.task);
    failure.time_ns = last.time_ns;
  }
  outcome.failure = failure;
  outcome.failure.id = "the last choice before the end";
  rerun.events = events_report(outcome, events);
  return rerun;
}

Rerun run_follower(const Replay& replay, const ShownEvents& events, std::atomic<uint64_t>* progress,
                   std::function<void()> at_last) {
  Follower follower(replay.choices, std::move(at_last));
  Pulse pulse(&follower, progress);
  const Runner runner(replay.scenario);
  const Execution execution = runner.run(pulse, replay.seed, events);
  const machine::Outcome& outcome = execution.outcome;

  Rerun rerun;
  rerun.complete = true;
  rerun.trace_hash = outcome.trace_hash;
  rerun.steps = outcome.steps;
  rerun.choices_left = follower.left();
  if (follower.replay().diverged()) {
    rerun.diverged = true;
    rerun.divergence =
        follower.replay().divergence().text() +
        fmt::format(", at step {} in {}()", outcome.failure.step, outcome.failure.function);
    return rerun;
  }
  rerun.failed = outcome.failed;
  if (!outcome.failed) return rerun;
  rerun.failure = outcome.failure;
  rerun.signature = signature(outcome.failure, replay.scenario);
  rerun.events = execution.events.empty() ? events_report(outcome, events) : execution.events;
  return rerun;
}

}  // namespace

Rerun rerun_here(const Replay& replay, const ShownEvents& events) {
  std::atomic<uint64_t> progress = 0;
  Rerun rerun = run_follower(replay, events, &progress, nullptr);
  // Which function it was, stands in the sanitizer's report only, which has gone to stderr.
  const std::string race = rerun.failure.id + "@";
  const bool is_race = rerun.failure.kind == engine::FailureKind::data_race;
  if (is_race && replay.signature.starts_with(race)) rerun.signature = replay.signature;
  return rerun;
}

Rerun rerun_in_child(const Replay& replay, const ShownEvents& events) {
  void* memory = ::mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  SD_CHECK(memory != MAP_FAILED);
  auto* progress = new (memory) std::atomic<uint64_t>(0);
  const auto body = [&](const std::function<void(const std::string&)>& send) {
    const Rerun rerun =
        run_follower(replay, events, progress, [&] { send(packed(last_words(events))); });
    send(packed(rerun));
  };
  ChildResult result =
      run_in_child(body, [&] { return progress->load(std::memory_order_relaxed); });
  ::munmap(memory, sizeof(std::atomic<uint64_t>));

  // The last words, then, if it came to that, the result.
  Rerun rerun;
  while (const auto finding = decode(&result.output)) rerun = unpacked(*finding);
  if (rerun.complete && rerun.failure.kind == engine::FailureKind::data_race) {
    // The sanitizer has the last word about the exit code.
    rerun.standard_error = result.standard_error;
    read_race(result.standard_error, &rerun.failure);
    rerun.signature = signature(rerun.failure, replay.scenario);
    return rerun;
  }
  if (result.ending.ok()) return rerun;
  const engine::Failure place = rerun.failure;
  rerun.died = rerun.failed = true;
  rerun.standard_error = result.standard_error;
  rerun.failure = failure_of_death(result.ending, result.standard_error);
  rerun.failure.cpu = place.cpu;
  rerun.failure.task = place.task;
  rerun.failure.step = place.step;
  rerun.failure.time_ns = place.time_ns;
  if (rerun.failure.function.empty()) rerun.failure.function = place.function;
  rerun.signature = signature(rerun.failure, replay.scenario);
  return rerun;
}

}  // namespace sd::torture
