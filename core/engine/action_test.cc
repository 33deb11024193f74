#include "core/engine/action.h"

#include <gtest/gtest.h>

#include <set>

#include "core/engine/rng.h"

namespace sd::engine {
namespace {

void enable(ActionSet& actions, uint32_t id) {
  actions.enable(id, ActionClass::advance, OpKind::none, nullptr);
}

TEST(ActionSet, TheCalmActionIsIndex0AndTheOthersFollowInOrder) {
  ActionSet actions;
  actions.reset(10);
  for (const uint32_t id : {7u, 3u, 5u, 1u}) enable(actions, id);
  for (const uint32_t calm : {7u, 3u, 5u, 1u}) {
    actions.set_calm(calm);
    EXPECT_EQ(actions.at(0).id, calm);
    std::set<uint32_t> seen;
    for (uint32_t i = 0; i < actions.size(); ++i) {
      seen.insert(actions.at(i).id);
      EXPECT_EQ(actions.index_of(actions.at(i).id), i);
    }
    EXPECT_EQ(seen, (std::set<uint32_t>{1, 3, 5, 7}));
  }
}

TEST(ActionSet, EnablingAgainUpdatesClassOperationAndAddress) {
  int word;
  ActionSet actions;
  actions.reset(2);
  enable(actions, 1);
  actions.enable(1, ActionClass::deliver, OpKind::store, &word);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions.begin()->cls, ActionClass::deliver);
  EXPECT_EQ(actions.begin()->op, OpKind::store);
  EXPECT_EQ(actions.begin()->addr, &word);
}

TEST(ActionSet, ChangesTellEveryActionThatCameOrWent) {
  ActionSet actions;
  actions.reset(50);
  Rng rng(1);
  std::set<uint32_t> followed;
  uint64_t seen = actions.changes();
  for (int i = 0; i < 10'000; ++i) {
    const uint32_t id = rng.below(50);
    rng.below(2) == 0 ? enable(actions, id) : actions.disable(id);
    if (rng.below(8) != 0) continue;
    ASSERT_LE(actions.changes() - seen, ActionSet::kChangesKept);
    for (; seen < actions.changes(); ++seen) {
      const uint32_t changed = actions.changed_id(seen);
      actions.enabled(changed) ? (void)followed.insert(changed) : (void)followed.erase(changed);
    }
    ASSERT_EQ(followed.size(), actions.size());
    for (const Action& action : actions) ASSERT_EQ(followed.count(action.id), 1u);
  }
}

TEST(ActionSet, ResetForgetsAllAndIsNoticedByWhoFollowsChanges) {
  ActionSet actions;
  actions.reset(4);
  enable(actions, 2);
  const uint64_t seen = actions.changes();
  actions.reset(4);
  EXPECT_TRUE(actions.empty());
  EXPECT_FALSE(actions.enabled(2));
  EXPECT_GT(actions.changes() - seen, ActionSet::kChangesKept);
  actions.reset(8);
  EXPECT_EQ(actions.capacity(), 8u);
  enable(actions, 7);
  EXPECT_TRUE(actions.enabled(7));
}

}  // namespace
}  // namespace sd::engine
