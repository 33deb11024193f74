#include "core/engine/pos.h"

#include <gtest/gtest.h>

#include <vector>

namespace sd::engine {
namespace {

int x, y;
constexpr int kSeeds = 40'000;

// In how many of all seeds action 0, about to `op` x, is not taken in `steps` steps in which
// action 1 stores to `other` again and again.
int waits(OpKind op, int* other, int steps) {
  ActionSet actions;
  actions.reset(2);
  actions.enable(0, ActionClass::advance, op, &x);
  actions.enable(1, ActionClass::advance, OpKind::store, other);
  actions.set_calm(0);
  Pos pos;
  int waited = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    pos.begin(seed);
    bool taken = false;
    for (int i = 0; i < steps && !taken; ++i) taken = actions.at(pos.pick(actions)).id == 0;
    waited += !taken;
  }
  return waited;
}

TEST(Pos, AllFirstEventsAreEquallyLikely) {
  ActionSet actions;
  actions.reset(4);
  for (uint32_t id = 0; id < 4; ++id) {
    actions.enable(id, id == 3 ? ActionClass::deliver : ActionClass::advance, OpKind::load, &x);
  }
  actions.set_calm(2);
  Pos pos;
  std::vector<int> first(4);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    pos.begin(seed);
    ++first[actions.at(pos.pick(actions)).id];
  }
  for (const int n : first) EXPECT_NEAR(n, kSeeds / 4, 400);
}

// Independent: the one that waits keeps its priority, and is the least of five drawn with chance
// 1/5.
TEST(Pos, AnEventKeepsItsPriorityWhileOthersTouchOtherMemory) {
  EXPECT_NEAR(waits(OpKind::load, &y, 4), kSeeds / 5, 400);
  EXPECT_NEAR(waits(OpKind::none, &y, 4), kSeeds / 5, 400);
}

// Racing: every step is a new draw between two, 1/2 to the fourth.
TEST(Pos, AnEventThatRacesWithWhatWasTakenDrawsANewPriority) {
  EXPECT_NEAR(waits(OpKind::load, &x, 4), kSeeds / 16, 250);
  EXPECT_NEAR(waits(OpKind::store, &x, 4), kSeeds / 16, 250);
}

TEST(Pos, TwoReadsDoNotRaceAndTwoLockOperationsDo) {
  for (const OpKind op : {OpKind::load, OpKind::lock}) {
    ActionSet actions;
    actions.reset(2);
    actions.enable(0, ActionClass::advance, op, &x);
    actions.enable(1, ActionClass::advance, op, &x);
    actions.set_calm(0);
    Pos pos;
    int waited = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      pos.begin(seed);
      bool taken = false;
      for (int i = 0; i < 4 && !taken; ++i) taken = actions.at(pos.pick(actions)).id == 0;
      waited += !taken;
    }
    EXPECT_NEAR(waited, op == OpKind::load ? kSeeds / 5 : kSeeds / 16, 400);
  }
}

// The highest of n wins each renewal, so a wait of 10 of them has chance 2^-10 with two; 20 seeds
// with 780 renewals each. Without renewals the longest wait grows with the length of the
// execution.
TEST(Pos, WaitsAreBoundedByRenewals) {
  ActionSet actions;
  actions.reset(2);
  actions.enable(0, ActionClass::advance, OpKind::load, &x);
  actions.enable(1, ActionClass::advance, OpKind::load, &y);
  actions.set_calm(0);
  Pos pos;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    pos.begin(seed);
    int since[2] = {};
    for (int i = 0; i < 100'000; ++i) {
      const uint32_t id = actions.at(pos.pick(actions)).id;
      since[id] = 0;
      ASSERT_LT(++since[1 - id], 20 * 128) << seed;
    }
  }
}

TEST(Pos, TheShareOfDisturbancesIsItsDrawnRate) {
  ActionSet actions;
  actions.reset(4);
  actions.enable(0, ActionClass::advance, OpKind::load, &x);
  actions.enable(1, ActionClass::advance, OpKind::load, &y);
  actions.enable(2, ActionClass::disturb, OpKind::none, nullptr);
  actions.enable(3, ActionClass::disturb, OpKind::none, nullptr);
  actions.set_calm(0);
  Pos pos;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    pos.begin(seed);
    std::vector<int> seen(4);
    for (int i = 0; i < 100'000; ++i) ++seen[actions.at(pos.pick(actions)).id];
    const int disturbs = 100'000 / static_cast<int>(pos.steps_per_disturb());
    EXPECT_NEAR(seen[2], disturbs / 2, 100 + disturbs / 20) << pos.description();
    EXPECT_NEAR(seen[3], disturbs / 2, 100 + disturbs / 20) << pos.description();
  }
}

}  // namespace
}  // namespace sd::engine
