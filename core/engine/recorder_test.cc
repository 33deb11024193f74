#include "core/engine/recorder.h"

#include <gtest/gtest.h>

#include "core/engine/replay_chooser.h"
#include "core/engine/strategy.h"

namespace sd::engine {
namespace {

// Some questions that depend on the answers, as those of a machine do.
std::vector<uint32_t> run(Chooser& chooser, uint64_t seed) {
  std::vector<uint32_t> answers;
  ActionSet actions;
  actions.reset(8);
  actions.enable(0, ActionClass::advance, OpKind::none, nullptr);
  actions.enable(1, ActionClass::advance, OpKind::none, nullptr);
  actions.set_calm(0);
  chooser.begin(seed);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t id = actions.at(chooser.pick(actions)).id;
    answers.push_back(id);
    const uint32_t other = chooser.number(8, Purpose::op_cpu);
    answers.push_back(other);
    if (actions.size() > 2 && other != id) {
      actions.disable(other);
    } else {
      actions.enable((other + 1) % 8, ActionClass::advance, OpKind::none, nullptr);
    }
    actions.set_calm(actions.begin()->id);
  }
  return answers;
}

TEST(Recorder, ChangesNoAnswerAndReplayingItsLogGivesTheSameExecution) {
  std::string error;
  for (const char* spec : {"random", "pct:3", "pos", "mix", "calm"}) {
    const auto strategy = make_strategy(spec, nullptr);
    const auto expected = run(*strategy, 42);
    const auto log = ChoiceLog::in_memory();
    Recorder recorder(strategy.get(), log.get());
    EXPECT_EQ(run(recorder, 42), expected) << spec;
    EXPECT_STREQ(recorder.description(), strategy->description());

    ReplayChooser replay(log->read(&error)->choices);
    EXPECT_EQ(run(replay, 0), expected) << spec;
    EXPECT_FALSE(replay.diverged());
    EXPECT_TRUE(replay.at_end());
  }
}

TEST(Recorder, CountsExecutionsFromWhereItIsTold) {
  std::string error;
  const auto strategy = make_strategy("calm", nullptr);
  const auto log = ChoiceLog::in_memory();
  Recorder recorder(strategy.get(), log.get());
  recorder.begin(5);
  EXPECT_EQ(log->read(&error)->execution, 0u);
  recorder.set_next_execution(100);
  recorder.begin(6);
  recorder.begin(7);
  EXPECT_EQ(log->read(&error)->execution, 101u);
  EXPECT_EQ(log->read(&error)->seed, 7u);
}

}  // namespace
}  // namespace sd::engine
