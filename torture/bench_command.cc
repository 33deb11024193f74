#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/engine/choice_log.h"
#include "core/engine/contexts.h"
#include "core/engine/recorder.h"
#include "core/engine/rng.h"
#include "core/engine/strategy.h"
#include "core/machine/machine.h"
#include "torture/build_info.h"
#include "torture/child.h"
#include "torture/commands.h"
#include "torture/handoff.h"
#include "torture/parse.h"
#include "torture/runner.h"
#include "torture/summary.h"
#include "torture/supervisor.h"
#include "torture/text.h"
#include "torture/values.h"

namespace sd::torture {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr uint64_t kSeed = 1;
// Each figure is the median of so many measurements, taken in turns, so that a busy moment of the
// machine is in one of each.
constexpr unsigned kRounds = 7;

struct BenchOptions {
  std::string name;
  std::string json;
};

// CPU time of this process, so that other processes cost nothing but their share of the caches.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// ns of CPU time per switch between two fibers that do nothing else.
double measure_switch() {
  struct Pair {
    engine::FiberPool pool{2, [] { std::abort(); }};
    engine::Fiber* a = pool.acquire();
    engine::Fiber* b = pool.acquire();
  };
  static Pair pair;
  static bool started = false;
  constexpr unsigned kSwitches = 2'000'000;
  if (!started) {
    started = true;
    pair.a->start(
        [](void*) {
          while (true) {
            for (unsigned i = 0; i < kSwitches / 2; i++) engine::Fiber::switch_to(pair.a, pair.b);
            engine::Fiber::switch_to(pair.a, engine::Fiber::driver());
          }
        },
        nullptr);
    pair.b->start(
        [](void*) {
          while (true) engine::Fiber::switch_to(pair.b, pair.a);
        },
        nullptr);
  }
  const double start = cpu_seconds();
  engine::Fiber::switch_to(engine::Fiber::driver(), pair.a);
  return (cpu_seconds() - start) * 1e9 / kSwitches;
}

// Executions of the default scenario as a worker runs them: the default strategy, recorded, with
// all oracles.
class Workload {
 public:
  explicit Workload(unsigned cpus)
      : scenario_(of(cpus)),
        runner_(scenario_),
        strategy_(engine::make_strategy(scenario_.strategy, nullptr)),
        log_(engine::ChoiceLog::in_memory()),
        recorder_(strategy_.get(), log_.get()) {}

  struct Cost {
    double ns_per_step = 0;
    double executions_per_second = 0;
    double steps_per_execution = 0;
  };
  Cost measure(unsigned executions) {
    uint64_t steps = 0;
    const double start = cpu_seconds();
    for (unsigned i = 0; i < executions; i++) {
      steps += runner_.run(recorder_, engine::execution_seed(kSeed, i)).outcome.steps;
    }
    const double seconds = cpu_seconds() - start;
    return {seconds * 1e9 / static_cast<double>(steps), executions / seconds,
            static_cast<double>(steps) / executions};
  }

  // us of CPU time of an execution that has nothing to do: boot and end of the machine.
  double measure_empty(unsigned executions) {
    const double start = cpu_seconds();
    for (unsigned i = 0; i < executions; i++) {
      recorder_.begin(engine::execution_seed(kSeed, i));
      machine::run(
          scenario_.machine, recorder_, [](void*) {}, nullptr);
    }
    return (cpu_seconds() - start) * 1e6 / executions;
  }

 private:
  static Scenario of(unsigned cpus) {
    Scenario scenario;
    scenario.machine.cpus = cpus;
    return scenario;
  }

  Scenario scenario_;
  Runner runner_;
  std::unique_ptr<engine::Chooser> strategy_;
  std::unique_ptr<engine::ChoiceLog> log_;
  engine::Recorder recorder_;
};

// Executions per second of wall time with so many workers.
double measure_jobs(unsigned jobs, const std::string& program) {
  TortureOptions options;
  options.seed = kSeed;
  options.jobs = jobs;
  options.duration = milliseconds(1500);
  const std::string scratch = std::filesystem::temp_directory_path();
  options.out_given = fmt::format("{}/shootdown-bench-{}", scratch, ::getpid());
  options.finish();
  SilentListener silent;
  const RunResult result = supervise(options, program, &silent);
  ::unlink((options.out + "/state.json").c_str());
  ::rmdir(options.out.c_str());
  const double seconds = static_cast<double>(result.elapsed.count()) / 1000;
  return static_cast<double>(result.totals.executions) / seconds;
}

// Runs `body`, which may not survive this process' state, in a child; its result is one line of
// numbers.
std::vector<double> in_child(const std::function<std::vector<double>()>& body) {
  const ChildResult result = run_in_child(
      [&](const std::function<void(const std::string&)>& send) {
        std::string line;
        for (const double value : body()) line += fmt::format("{:.17g} ", value);
        send(line);
      },
      [n = uint64_t{0}]() mutable { return ++n; });
  if (!result.ending.ok()) {
    throw std::runtime_error("the measurement died: " + result.standard_error);
  }
  std::vector<double> values;
  for (const std::string& word : split(result.output, ' ')) {
    if (!word.empty()) values.push_back(std::stod(word));
  }
  return values;
}

Json bench_engine(const std::string& program) {
  const std::vector<double> values = in_child([] {
    Workload small(4);
    Workload large(256);
    std::vector<std::vector<double>> figures(6);
    for (unsigned round = 0; round < kRounds; round++) {
      figures[0].push_back(measure_switch());
      const Workload::Cost four = small.measure(1500);
      figures[1].push_back(four.ns_per_step);
      figures[2].push_back(large.measure(15).ns_per_step);
      figures[3].push_back(small.measure_empty(2000));
      figures[4].push_back(four.executions_per_second);
      figures[5].push_back(four.steps_per_execution);
    }
    std::vector<double> medians;
    for (auto& figure : figures) medians.push_back(median(figure));
    return medians;
  });
  std::vector<double> speedups;
  for (unsigned round = 0; round < 3; round++) {
    const double one = measure_jobs(1, program);
    speedups.push_back(measure_jobs(2, program) / one);
  }
  return {{"switch_ns", values[0]},           {"step_ns_4", values[1]},
          {"step_ns_256", values[2]},         {"execution_us", values[3]},
          {"executions_per_s", values[4]},    {"steps_per_execution", values[5]},
          {"jobs2_speedup", median(speedups)}};
}

Json bench_handoff() {
  const std::vector<double> values = in_child([] {
    constexpr unsigned kExecutions = 100'000;
    engine::Contexts contexts;
    Handoff handoff(2);
    const auto strategy = engine::make_strategy("random", nullptr);
    const auto log = engine::ChoiceLog::in_memory();
    engine::Recorder recorder(strategy.get(), log.get());
    std::vector<double> speeds;
    uint64_t steps = 0;
    for (unsigned round = 0; round < kRounds; round++) {
      steps = 0;
      const double start = cpu_seconds();
      for (unsigned i = 0; i < kExecutions; i++) {
        recorder.begin(engine::execution_seed(kSeed, i));
        const Handoff::Outcome outcome = handoff.run(contexts, recorder);
        if (!outcome.ok()) throw std::runtime_error("the hand-off went wrong");
        steps += outcome.contexts.steps;
      }
      speeds.push_back(kExecutions / (cpu_seconds() - start));
    }
    return std::vector<double>{median(speeds), static_cast<double>(steps) / kExecutions};
  });
  return {{"executions_per_s", values[0]}, {"steps_per_execution", values[1]}};
}

const char* meaning(const std::string& figure) {
  if (figure == "switch_ns") return "a bare switch between two fibers";
  if (figure == "step_ns_4") return "a step of the default scenario, 4 vCPUs";
  if (figure == "step_ns_256") return "the same with 256 vCPUs";
  if (figure == "execution_us") return "boot and end of a machine with nothing to do";
  if (figure == "executions_per_s") return "executions per CPU-second";
  if (figure == "steps_per_execution") return "how long an execution is";
  if (figure == "jobs2_speedup") return "executions of two workers to those of one, by the clock";
  return "";
}

int run_bench(const BenchOptions& options, const std::string& program) {
  if (!options.json.empty()) check_json_path(options.json);
  const Json figures = options.name == "engine" ? bench_engine(program) : bench_handoff();
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : figures.items())
    rows.push_back({name, fmt::format("{:.2f}", value.get<double>()), meaning(name)});
  std::fputs(table(rows).c_str(), stdout);
  if (!options.json.empty()) write_json(options.json, figures.dump(2) + "\n");
  return exit_clean;
}

}  // namespace

Command bench_command(const std::string& program) {
  const auto options = std::make_shared<BenchOptions>();
  BenchOptions* o = options.get();
  Command command;
  command.name = "bench";
  command.summary =
      "Measure: engine (costs of steps and executions) or handoff (the field's yardstick)";
  command.example = "shootdown bench handoff";
  command.options = {{"NAME", "NAME", "engine or handoff", "", false, true,
                      [o](const std::string& text) {
                        if (text != "engine" && text != "handoff")
                          usage_error(quote(text) + " is not a benchmark: engine, handoff");
                        o->name = text;
                      }},
                     {"--json", "FILE", "Write the figures", "", false, false,
                      [o](const std::string& text) { o->json = path_of(text); }}};
  command.run = [options, program] { return run_bench(*options, program); };
  return command;
}

}  // namespace sd::torture
