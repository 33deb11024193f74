// The scf torture with all oracles, in this process.
#include "torture/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/bugs/bugs.h"
#include "core/engine/strategy.h"
#include "torture/bug_needs.h"

namespace sd::torture {
namespace {

Execution run_once(const Scenario& scenario, uint64_t seed) {
  const Runner runner(scenario);
  const auto chooser = engine::make_strategy(scenario.strategy, nullptr);
  return runner.run(*chooser, seed);
}

TEST(RunnerTest, ALivelockIsNamedByWhatWasBusy) {
  Scenario scenario;
  scenario.machine.step_bound = 1500;
  int livelocks = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Execution execution = run_once(scenario, seed);
    if (!execution.outcome.failed) continue;
    ++livelocks;
    ASSERT_EQ(execution.outcome.failure.id, "livelock");
    EXPECT_NE(execution.outcome.failure.function, "");
    EXPECT_EQ(execution.outcome.failure.function,
              run_once(scenario, seed).outcome.failure.function);
  }
  EXPECT_GT(livelocks, 0);
}

#if !defined(SD_ASAN) && !defined(SD_TSAN)  // which see some of the bugs before an oracle does
// What the torture reaches without special memory.
std::vector<bugs::Bug> bugs_for_scf() {
  std::vector<bugs::Bug> list;
  for (const bugs::BugInfo& bug : bugs::all()) {
    if (!bug.expected.empty() && bug.needs.memory == bugs::Memory::sc) list.push_back(bug.bug);
  }
  return list;
}

Scenario scenario_for(const bugs::BugInfo& bug) {
  Scenario scenario;
  meet_needs(scenario, bug);
  scenario.machine.bugs = bugs::bit(bug.bug);
  scenario.machine.patches = bugs::with_forced(scenario.machine.patches, scenario.machine.bugs);
  return scenario;
}

class EveryScfBug : public ::testing::TestWithParam<bugs::Bug> {};
INSTANTIATE_TEST_SUITE_P(Bank, EveryScfBug, ::testing::ValuesIn(bugs_for_scf()),
                         [](const auto& info) { return std::string(bugs::info(info.param).id); });

TEST_P(EveryScfBug, IsFoundAsTheBankSays) {
  const bugs::BugInfo& bug = bugs::info(GetParam());
  const Scenario scenario = scenario_for(bug);
  const Runner runner(scenario);
  const auto chooser = engine::make_strategy(scenario.strategy, nullptr);
  for (uint64_t seed = 1; seed <= 20'000; ++seed) {
    const Execution execution = runner.run(*chooser, seed);
    if (!execution.outcome.failed) continue;
    const engine::Failure& failure = execution.outcome.failure;
    EXPECT_TRUE(bugs::finds(bug, failure.id))
        << failure.id << " in " << failure.function << ": " << failure.message;
    EXPECT_NE(failure.function, "") << failure.id;
    return;
  }
  FAIL() << bug.id << " " << bug.slug << " was not found";
}
#endif

}  // namespace
}  // namespace sd::torture
