#include "core/engine/random_walk.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace sd::engine {
namespace {

TEST(RandomWalk, TakesContextsAndDeliveriesUniformlyAndDisturbancesAtItsRate) {
  ActionSet actions;
  actions.reset(6);
  for (uint32_t id = 0; id < 2; ++id) {
    actions.enable(id, ActionClass::advance, OpKind::load, nullptr);
    actions.enable(2 + id, ActionClass::deliver, OpKind::none, nullptr);
    actions.enable(4 + id, ActionClass::disturb, OpKind::none, nullptr);
  }
  actions.set_calm(3);
  RandomWalk walk;
  std::set<uint32_t> rates;
  constexpr int kSteps = 80'000;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    walk.begin(seed);
    const int disturbs = kSteps / static_cast<int>(walk.steps_per_disturb());
    rates.insert(walk.steps_per_disturb());
    std::vector<int> seen(6);
    for (int i = 0; i < kSteps; ++i) ++seen[actions.at(walk.pick(actions)).id];
    for (uint32_t id = 0; id < 4; ++id) EXPECT_NEAR(seen[id], (kSteps - disturbs) / 4, 700);
    for (uint32_t id = 4; id < 6; ++id) {
      EXPECT_NEAR(seen[id], disturbs / 2, 100 + disturbs / 20) << walk.description();
    }
  }
  EXPECT_EQ(rates, (std::set<uint32_t>{4, 16, 64, 256}));
}

TEST(RandomWalk, FewContextsAmongManyDisturbancesStillGetMostSteps) {
  ActionSet actions;
  actions.reset(300);
  for (uint32_t id = 0; id < 298; ++id) {
    actions.enable(id, ActionClass::disturb, OpKind::none, nullptr);
  }
  actions.enable(298, ActionClass::advance, OpKind::load, nullptr);
  actions.enable(299, ActionClass::advance, OpKind::load, nullptr);
  actions.set_calm(298);
  RandomWalk walk;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    walk.begin(seed);
    std::vector<int> seen(300);
    for (int i = 0; i < 10'000; ++i) ++seen[actions.at(walk.pick(actions)).id];
    EXPECT_GT(seen[298], 3000);
    EXPECT_GT(seen[299], 3000);
  }
}

}  // namespace
}  // namespace sd::engine
