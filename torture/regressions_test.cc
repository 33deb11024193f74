// corpora/regressions: one execution per bug of the bank, ID.sdr. Each fails with its bug, as it
// was recorded, and runs clean without. SD_UPDATE_REGRESSIONS=1 records anew those that do not, for
// changes that give executions another meaning.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/engine/choice_log.h"
#include "core/engine/recorder.h"
#include "core/engine/replay_chooser.h"
#include "core/engine/strategy.h"
#include "torture/bug_needs.h"
#include "torture/replay_text.h"
#include "torture/rerun.h"
#include "torture/runner.h"
#include "torture/signature.h"
#include "torture/test_program.h"
#include "torture/user_error.h"

namespace sd::torture {
namespace {

std::vector<const bugs::BugInfo*> bugs_with_regressions() {
  std::vector<const bugs::BugInfo*> out;
  for (const bugs::BugInfo& bug : bugs::all()) {
    if (!bug.expected.empty() && bug.needs.memory == bugs::Memory::sc) out.push_back(&bug);
  }
  return out;
}

std::string path_of(const bugs::BugInfo& bug) {
  return std::string("corpora/regressions/") + bug.id + ".sdr";
}

size_t disturbed(const std::vector<engine::Choice>& choices) {
  return static_cast<size_t>(std::count_if(choices.begin(), choices.end(),
                                           [](const engine::Choice& c) { return c.value != 0; }));
}

// Of the first findings, the one that is calmest, as an .sdr file.
std::string recorded(const bugs::BugInfo& bug) {
  Scenario scenario;
  meet_needs(scenario, bug);
  scenario.machine.bugs = bugs::bit(bug.bug);
  scenario.machine.patches = bugs::with_forced(scenario.machine.patches, scenario.machine.bugs);
  const Runner runner(scenario);
  const auto strategy = engine::make_strategy(scenario.strategy, nullptr);
  const auto log = engine::ChoiceLog::in_memory();
  engine::Recorder recorder(strategy.get(), log.get());
  Replay best;
  unsigned found = 0;
  for (uint64_t seed = 1; seed <= 40'000 && found < 20; seed++) {
    const Execution execution = runner.run(recorder, seed);
    const engine::Failure& failure = execution.outcome.failure;
    if (!execution.outcome.failed || !bugs::finds(bug, failure.id)) continue;
    std::string error;
    std::vector<engine::Choice> choices = log->read(&error)->choices;
    if (found++ > 0 && disturbed(choices) >= disturbed(best.choices)) continue;
    best.scenario = scenario;
    best.strategy = strategy->description();
    best.seed = seed;
    best.signature = signature(failure, scenario);
    best.trace_hash = execution.outcome.trace_hash;
    best.choices = std::move(choices);
  }
  return found == 0 ? "" : replay_text(best);
}

bool holds(const bugs::BugInfo& bug) {
  const std::string text = slurp(path_of(bug));
  if (text.empty()) return false;
  try {
    const Replay replay = parse_replay(text, path_of(bug));
    const Rerun rerun = rerun_in_child(replay, ShownEvents{0});
    return rerun.signature == replay.signature && rerun.trace_hash == replay.trace_hash;
  } catch (const UserError&) {
    return false;
  }
}

class Regression : public testing::TestWithParam<const bugs::BugInfo*> {};
INSTANTIATE_TEST_SUITE_P(Bank, Regression, testing::ValuesIn(bugs_with_regressions()),
                         [](const auto& info) { return std::string(info.param->id); });

TEST_P(Regression, FailsAsRecorded) {
  const bugs::BugInfo& bug = *GetParam();
  if (std::getenv("SD_UPDATE_REGRESSIONS") != nullptr && !holds(bug)) {
    spill(path_of(bug), recorded(bug));
  }
  const Replay replay = load_replay(path_of(bug));
  EXPECT_EQ(replay.scenario.machine.bugs, bugs::bit(bug.bug));
  const Rerun rerun = rerun_in_child(replay, ShownEvents{0});
  ASSERT_FALSE(rerun.diverged) << rerun.divergence << "; SD_UPDATE_REGRESSIONS=1 records it anew";
  ASSERT_TRUE(rerun.failed);
  if (rerun.failure.kind == engine::FailureKind::sanitizer ||
      rerun.failure.kind == engine::FailureKind::data_race) {
    return;  // which sees the same before an oracle does
  }
  EXPECT_EQ(rerun.signature, replay.signature);
  EXPECT_EQ(rerun.trace_hash, replay.trace_hash);
  EXPECT_TRUE(bugs::finds(bug, rerun.failure.id)) << rerun.failure.id;
}

// The same choices, as far as they fit, and calm ones from there.
TEST_P(Regression, IsCleanWithoutItsBug) {
  const bugs::BugInfo& bug = *GetParam();
  Replay replay = load_replay(path_of(bug));
  replay.scenario.machine.bugs = {};
  set_series(replay.scenario, "merged");
  engine::ReplayChooser chooser(std::move(replay.choices));
  const Execution execution = Runner(replay.scenario).run(chooser, 0);
  EXPECT_FALSE(execution.outcome.failed)
      << execution.outcome.failure.signature() << ": " << execution.outcome.failure.message;
}

}  // namespace
}  // namespace sd::torture
