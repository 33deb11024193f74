#include "torture/runner.h"

#include <memory>
#include <vector>

#include "core/engine/check.h"
#include "core/machine/machine.h"
#include "core/oracle/oracles.h"
#include "core/smp/smp.h"
#include "core/smp/trace.h"
#include "torture/race_watch.h"
#include "torture/spinning.h"

namespace sd::torture {

namespace {

// What a process registers once; the oracles live as long as it does.
const oracle::Oracles& registered_oracles() {
  static const oracle::Oracles oracles = [] {
    smp::tp::register_events();
    smp::register_stack();
    scf::register_scf();
    oracle::Oracles all = oracle::make_oracles();
    for (const auto& oracle : all) machine::trace().attach(oracle.get());
    return all;
  }();
  return oracles;
}

}  // namespace

Runner::Runner(const Scenario& scenario) : scenario_(scenario) {
  scenario_.machine.step_bound = step_bound(scenario);
  scenario_.scf.forgive_injected =
      scenario.machine.alloc_fail != 0 || scenario.machine.hotplug_fail != 0;
  registered_oracles();
}

Execution Runner::run(engine::Chooser& chooser, uint64_t seed, const ShownEvents& shown) const {
  scf::ScfRun scf;
  scf.params = &scenario_.scf;
  RaceWatch watch(&chooser, shown);
  engine::Chooser& asked = watches_races() ? watch : chooser;
  asked.begin(seed);
  Execution execution;
  execution.outcome = machine::run(scenario_.machine, asked, scf::scf_main, &scf);
  SD_CHECK(!scf.init_failed);  // check_scenario() has seen the weights
  execution.scf = scf.stats;
  execution.ipis = oracle::ipis_of(registered_oracles());
  engine::Failure& failure = execution.outcome.failure;
  if (watch.seen()) {
    execution.outcome.failed = true;
    failure = watch.failure();
    execution.events = watch.events();
  } else if (execution.outcome.failed && failure.kind == engine::FailureKind::livelock) {
    // The machine knows only whose turn it was when the steps ran out.
    const std::string busy = busiest_function(machine::trace().last(kSpinningEvents));
    if (!busy.empty()) failure.function = busy;
  } else if (execution.outcome.failed && failure.kind == engine::FailureKind::hang) {
    const std::string calls = oracle::describe_hang(registered_oracles());
    if (!calls.empty()) failure.detail += (failure.detail.empty() ? "" : "\n") + calls;
  }
  return execution;
}

}  // namespace sd::torture
