#include "torture/worker.h"

#include <fmt/core.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>

#include "core/engine/check.h"
#include "core/engine/recorder.h"
#include "core/engine/rng.h"
#include "core/engine/strategy.h"
#include "torture/crash.h"
#include "torture/disarranged.h"
#include "torture/replay_text.h"
#include "torture/report.h"
#include "torture/runner.h"
#include "torture/scf/stats_line.h"
#include "torture/signature.h"
#include "torture/wire.h"

namespace sd::torture {

namespace {

class Worker {
 public:
  explicit Worker(const WorkerTask& task)
      : task_(task),
        runner_(*task.scenario),
        strategy_(engine::make_strategy(task.scenario->strategy, nullptr)),
        recorder_(strategy_.get(), task.log) {
    SD_CHECK(strategy_ != nullptr);
    SD_CHECK(task.log->set_scenario(scenario_text(*task.scenario)));
  }

  void run() {
    while (true) {
      rest_while_paused();
      const uint64_t i = take();
      task_.page->current.store(i, std::memory_order_relaxed);
      const bool run = i < task_.shared->limit.load(std::memory_order_relaxed);
      if (run) task_.page->begun.store(totals_.executions + 1);
      task_.page->phase.store(run ? WorkerPhase::running : WorkerPhase::refused);
      if (!run) return;
      run_one(i);
      if (task_.page->retired.load(std::memory_order_relaxed)) return;
    }
  }

 private:
  // Leaves in phase taking. Either this worker sees the pause, or the one who pauses sees that it
  // is not resting.
  void rest_while_paused() {
    while (true) {
      task_.page->phase.store(WorkerPhase::taking);
      if (!task_.shared->paused.load()) return;
      task_.page->phase.store(WorkerPhase::resting);
      while (task_.shared->paused.load()) ::usleep(200);
    }
  }

  uint64_t take() {
    SharedCounters* shared = task_.shared;
    if (shared->left_taken.load(std::memory_order_relaxed) < shared->left_count) {
      const uint64_t n = shared->left_taken.fetch_add(1, std::memory_order_relaxed);
      if (n < shared->left_count) return shared->left[n];
    }
    return task_.shard.number(shared->next.fetch_add(1, std::memory_order_relaxed));
  }

  void run_one(uint64_t i) {
    constexpr uint64_t kTrimEvery = 64;  // looking costs a system call
    if (totals_.executions % kTrimEvery == 0) task_.capture->trim();
    const uint64_t seed = engine::execution_seed(task_.seed, i);
    recorder_.set_next_execution(i);
    Execution execution = runner_.run(recorder_, seed);
    if (execution.outcome.failed) {
      task_.log->set_state(engine::LogState::failed);
      report(i, seed, execution);
    } else {
      task_.log->set_state(engine::LogState::idle);
    }
    if (task_.check_determinism) check_again(i, seed, &execution);

    totals_.executions++;
    totals_.steps += execution.outcome.steps;
    totals_.choices += execution.outcome.choices;
    totals_.virtual_ns += execution.outcome.virtual_ns;
    totals_.trace_hash += execution.outcome.trace_hash;
    totals_.failures += execution.outcome.failed ? 1 : 0;
    totals_.ipis += execution.ipis.sent;
    totals_.superfluous_ipis += execution.ipis.superfluous;
    totals_.scf += execution.scf;
    task_.page->totals.publish(totals_);
  }

  // The same execution once more, with all changed that must not matter.
  void check_again(uint64_t i, uint64_t seed, Execution* execution) {
    machine::Outcome* first = &execution->outcome;
    // The sanitizer would not report it again.
    if (first->failure.kind == engine::FailureKind::data_race && first->failed) return;
    const Disarranged otherwise;
    recorder_.set_next_execution(i);
    const machine::Outcome second = runner_.run(recorder_, seed).outcome;
    task_.log->set_state(engine::LogState::idle);
    if (first->trace_hash == second.trace_hash && first->steps == second.steps) return;
    engine::Failure failure;
    failure.kind = engine::FailureKind::harness;
    failure.id = "determinism";
    failure.message = fmt::format(
        "two runs of one execution differ: trace hash {:#018x} after {} steps, then {:#018x} after "
        "{} steps. Something depends on more than the choices: on an address, on what was in "
        "memory, "
        "on the environment; if not the code under test, then shootdown itself: please report it",
        first->trace_hash, first->steps, second.trace_hash, second.steps);
    first->failed = true;
    first->failure = failure;
    report(i, seed, *execution);
  }

  void report(uint64_t i, uint64_t seed, const Execution& execution) {
    const machine::Outcome& outcome = execution.outcome;
    Finding finding;
    finding.execution = i;
    finding.failure = outcome.failure;
    if (outcome.failure.kind == engine::FailureKind::data_race) {
      finding.standard_error = task_.capture->text();
      read_race(finding.standard_error, &finding.failure);
      // The sanitizer reports a race once per process: the next execution is another process's.
      task_.page->retired.store(true, std::memory_order_relaxed);
    }
    finding.signature = signature(finding.failure, *task_.scenario);
    if (seen_.insert(finding.signature).second) {
      finding.events =
          execution.events.empty() ? events_report(outcome, ShownEvents{}) : execution.events;
      Replay replay;
      replay.scenario = *task_.scenario;
      replay.strategy = strategy_->description();
      replay.seed = seed;
      replay.signature = finding.signature;
      replay.trace_hash = outcome.trace_hash;
      std::string error;
      auto logged = task_.log->read(&error);
      if (logged) replay.choices = std::move(logged->choices);
      if (!logged) finding.remark = "its choices are lost: " + error;
      if (logged && logged->overflowed)
        finding.remark = "only the first of its choices could be kept";
      finding.verified = !finding.remark.empty();
      finding.replay = replay_text(replay);
    }
    std::string bytes;
    encode(finding, &bytes);
    send_all(task_.pipe, bytes);
    // Those before it are still run: which failure is the first does not depend on the number of
    // workers.
    if (!task_.keep_going) task_.shared->stop_at(i);
  }

  const WorkerTask task_;
  Runner runner_;
  std::unique_ptr<engine::Chooser> strategy_;
  engine::Recorder recorder_;
  Totals totals_;
  std::set<std::string> seen_;
};

}  // namespace

void SharedCounters::stop_at(uint64_t execution) {
  uint64_t now = limit.load(std::memory_order_relaxed);
  while (execution < now &&
         !limit.compare_exchange_weak(now, execution, std::memory_order_relaxed)) {
  }
}

int run_worker(const WorkerTask& task) {
  task.capture->redirect();
  Worker(task).run();
  return 0;
}

}  // namespace sd::torture
