// For the tests of this folder: runs executions of the torture on a machine.
#pragma once

#include <memory>
#include <string>

#include "core/engine/strategy.h"
#include "core/kernel/param.h"
#include "core/machine/machine.h"
#include "core/series/series.h"
#include "core/smp/smp.h"
#include "torture/scf/scf.h"
#include "torture/scf/stats_line.h"

namespace sd::scf::testing {

struct Scenario {
  machine::Config config;
  ScfParams params;
  Plant plant = Plant::none;
  const char* strategy = "mix";

  explicit Scenario(const char* series = "merged") {
    config.patches = *series::find_set(series);
    set(kernel::Param::csd_lock_timeout, 5000);
    set(kernel::Param::ipi_mask_inlined, -1);
    set(kernel::Param::idle_poll_percent, 50);
  }
  void set(kernel::Param param, int64_t value) {
    config.params[static_cast<unsigned>(param)] = value;
  }
  Scenario& only(Prim prim, int weight = 1) {
    params.weights[static_cast<unsigned>(prim)] = weight;
    return *this;
  }
};

struct Result {
  machine::Outcome outcome;
  ScfStats stats;
  bool init_failed = false;
  bool was_shut_down = false;

  std::string text() const {
    return outcome.failure.id + "@" + outcome.failure.function + ": " + outcome.failure.message +
           "\n" + outcome.failure.detail;
  }
};

// Any function as the machine's first task.
inline Result run_entry(const Scenario& scenario, uint64_t seed, void (*entry)(void*), void* arg) {
  static const bool registered = [] {
    smp::register_stack();
    register_scf();
    return true;
  }();
  (void)registered;
  std::string error;
  const auto chooser = engine::make_strategy(scenario.strategy, &error);
  chooser->begin(seed);
  Result result;
  result.outcome = machine::run(scenario.config, *chooser, entry, arg);
  return result;
}

inline Result run_once(const Scenario& scenario, uint64_t seed) {
  ScfRun run;
  run.params = &scenario.params;
  run.plant = scenario.plant;
  Result result = run_entry(scenario, seed, scf_main, &run);
  result.stats = run.stats;
  result.init_failed = run.init_failed;
  result.was_shut_down = run.was_shut_down;
  return result;
}

// Sums over executions with different seeds, and the first failure.
struct Campaign {
  uint64_t executions = 0;
  uint64_t steps = 0;
  uint64_t onlined = 0, offlined = 0, hotplug_failed = 0;
  ScfStats stats;
  bool failed = false;
  uint64_t seed = 0;  // of the failure
  Result failure;
};

// Up to n executions; ends at the first failure.
inline Campaign run_many(const Scenario& scenario, uint64_t n, uint64_t first_seed = 1) {
  Campaign campaign;
  for (uint64_t seed = first_seed; seed < first_seed + n; ++seed) {
    const Result result = run_once(scenario, seed);
    ++campaign.executions;
    campaign.steps += result.outcome.steps;
    campaign.onlined += result.outcome.onlined;
    campaign.offlined += result.outcome.offlined;
    campaign.hotplug_failed += result.outcome.hotplug_failed;
    campaign.stats += result.stats;
    if (!result.outcome.failed) continue;
    campaign.failed = true;
    campaign.seed = seed;
    campaign.failure = result;
    break;
  }
  return campaign;
}

}  // namespace sd::scf::testing
