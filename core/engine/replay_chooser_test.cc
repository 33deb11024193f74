#include "core/engine/replay_chooser.h"

#include <gtest/gtest.h>

namespace sd::engine {
namespace {

class ReplayChooserTest : public testing::Test {
 protected:
  const ActionSet& menu(uint32_t size) {
    actions_.reset(16);
    for (uint32_t id = 0; id < size; ++id) {
      actions_.enable(id, ActionClass::advance, OpKind::none, nullptr);
    }
    actions_.set_calm(0);
    return actions_;
  }

  static Choice action(uint32_t value, uint32_t count) {
    return {value, count, true, Purpose::test};
  }
  static Choice number(uint32_t value, uint32_t count, Purpose purpose) {
    return {value, count, false, purpose};
  }

 private:
  ActionSet actions_;
};

TEST_F(ReplayChooserTest, FollowsTheListAndIsCalmAfterItsEnd) {
  ReplayChooser replay({action(2, 3), number(5, 7, Purpose::op_kind), action(0, 2)});
  for (int execution = 0; execution < 2; ++execution) {
    replay.begin(0);
    EXPECT_EQ(replay.pick(menu(3)), 2u);
    EXPECT_EQ(replay.number(7, Purpose::op_kind), 5u);
    EXPECT_FALSE(replay.at_end());
    EXPECT_EQ(replay.pick(menu(2)), 0u);
    EXPECT_TRUE(replay.at_end());
    EXPECT_EQ(replay.pick(menu(9)), 0u);
    EXPECT_EQ(replay.number(2, Purpose::test), 0u);
    EXPECT_EQ(replay.position(), 3u);
    EXPECT_FALSE(replay.diverged());
  }
}

TEST_F(ReplayChooserTest, AnEmptyListIsTheCalmExecution) {
  ReplayChooser replay({});
  replay.begin(0);
  EXPECT_EQ(replay.pick(menu(3)), 0u);
  EXPECT_EQ(replay.number(7, Purpose::op_kind), 0u);
  EXPECT_FALSE(replay.diverged());
}

TEST_F(ReplayChooserTest, AnotherCountDivergesAndIsCalmFromThenOn) {
  ReplayChooser replay({action(1, 3), action(2, 3), action(1, 2)});
  replay.begin(0);
  EXPECT_EQ(replay.pick(menu(3)), 1u);
  EXPECT_EQ(replay.pick(menu(4)), 0u);
  ASSERT_TRUE(replay.diverged());
  EXPECT_EQ(replay.divergence().index, 1u);
  EXPECT_EQ(replay.divergence().expected, action(2, 3));
  EXPECT_EQ(replay.divergence().found.count, 4u);
  EXPECT_EQ(
      replay.divergence().text(),
      "choice 1: the recording answers 2 to one of 3 actions, this execution asks for one of 4 "
      "actions");
  EXPECT_EQ(replay.pick(menu(3)), 0u) << "though this one would fit again";
  EXPECT_EQ(replay.divergence().index, 1u) << "the first divergence is the one that matters";
  replay.begin(0);
  EXPECT_FALSE(replay.diverged());
}

TEST_F(ReplayChooserTest, AnotherKindDiverges) {
  ReplayChooser replay({action(1, 3)});
  replay.begin(0);
  EXPECT_EQ(replay.number(3, Purpose::next_task), 0u);
  ASSERT_TRUE(replay.diverged());
  EXPECT_EQ(
      replay.divergence().text(),
      "choice 0: the recording answers 1 to one of 3 actions, this execution asks for a number "
      "below 3 for next_task");
}

TEST_F(ReplayChooserTest, AnotherPurposeDiverges) {
  ReplayChooser replay({number(1, 3, Purpose::op_kind)});
  replay.begin(0);
  EXPECT_EQ(replay.number(3, Purpose::op_cpu), 0u);
  ASSERT_TRUE(replay.diverged());
  EXPECT_NE(replay.divergence().text().find("below 3 for op_kind"), std::string::npos);
  EXPECT_NE(replay.divergence().text().find("below 3 for op_cpu"), std::string::npos);
}

TEST_F(ReplayChooserTest, ACalmChoiceIsCheckedIfItWasRecordedInFull) {
  ReplayChooser replay({action(0, 3)});
  replay.begin(0);
  EXPECT_EQ(replay.pick(menu(2)), 0u);
  EXPECT_TRUE(replay.diverged());
}

TEST_F(ReplayChooserTest, AChoiceWithoutCountFitsEverythingThatHasItsValue) {
  ReplayChooser replay({action(0, 0), action(0, 0), action(1, 0), action(2, 0)});
  replay.begin(0);
  EXPECT_EQ(replay.pick(menu(5)), 0u);
  EXPECT_EQ(replay.number(9, Purpose::op_cpu), 0u);
  EXPECT_EQ(replay.number(2, Purpose::op_cpu), 1u);
  EXPECT_FALSE(replay.diverged());
  EXPECT_EQ(replay.pick(menu(2)), 0u);
  ASSERT_TRUE(replay.diverged());
  EXPECT_EQ(replay.divergence().text(),
            "choice 3: the recording answers 2, this execution asks for one of 2 actions");
}

TEST_F(ReplayChooserTest, NeverAnswersOutOfRangeWhateverTheListSays) {
  ReplayChooser replay({action(5, 3)});
  replay.begin(0);
  EXPECT_EQ(replay.pick(menu(3)), 0u);
  EXPECT_TRUE(replay.diverged());
}

}  // namespace
}  // namespace sd::engine
