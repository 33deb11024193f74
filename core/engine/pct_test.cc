#include "core/engine/pct.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace sd::engine {
namespace {

constexpr uint32_t kContexts = 6;
constexpr uint32_t kDisturb = kContexts;

// Contexts that block and wake at random, at least two of them runnable.
class Blocking {
 public:
  explicit Blocking(uint64_t seed) : rng_(seed) {
    actions_.reset(kContexts + 1);
    for (uint32_t id = 0; id < kContexts; ++id) enable(id);
    actions_.set_calm(0);
  }

  void enable(uint32_t id) { actions_.enable(id, ActionClass::advance, OpKind::store, nullptr); }

  void change() {
    const uint32_t id = rng_.below(kContexts);
    if (!actions_.enabled(id)) {
      enable(id);
    } else if (actions_.size() > 2) {
      actions_.disable(id);
    }
    actions_.set_calm(actions_.begin()->id);
  }

  ActionSet actions_;

 private:
  Rng rng_;
};

TEST(Pct, AtDepth1RelativePrioritiesNeverChange) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Pct pct(1);
    pct.begin(seed);
    Blocking machine(seed);
    std::set<std::pair<uint32_t, uint32_t>> above;
    for (int step = 0; step < 20'000; ++step) {
      const uint32_t taken = machine.actions_.at(pct.pick(machine.actions_)).id;
      for (const Action& other : machine.actions_) {
        if (other.id == taken) continue;
        above.insert({taken, other.id});
        ASSERT_EQ(above.count({other.id, taken}), 0u) << "seed " << seed << " step " << step;
      }
      machine.change();
    }
    EXPECT_EQ(above.size(), kContexts * (kContexts - 1) / 2);
  }
}

TEST(Pct, FirstPrioritiesAreUniformOverAllOrders) {
  Pct pct(1);
  std::vector<int> first(3), disturbed(2);
  ActionSet actions;
  actions.reset(4);
  for (uint32_t id = 0; id < 3; ++id) {
    actions.enable(id, ActionClass::advance, OpKind::store, nullptr);
  }
  actions.enable(3, ActionClass::disturb, OpKind::none, nullptr);
  actions.set_calm(0);
  for (uint64_t seed = 0; seed < 30'000; ++seed) {
    pct.begin(seed);
    const uint32_t id = actions.at(pct.pick(actions)).id;
    ASSERT_LT(id, 3u) << "a disturbance comes first only where nothing else can run";
    ++first[id];
  }
  for (const int n : first) EXPECT_NEAR(n, 10'000, 400);
}

TEST(Pct, ChangesPrioritiesAtMostDepthMinus1TimesAWindow) {
  std::set<uint32_t> windows;
  for (uint32_t depth : {2u, 3u, 5u}) {
    uint64_t changes_of_all = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      Pct pct(depth);
      pct.begin(seed);
      windows.insert(pct.window());
      ActionSet actions;
      actions.reset(kContexts);
      for (uint32_t id = 0; id < kContexts; ++id) {
        actions.enable(id, ActionClass::advance, OpKind::store, nullptr);
      }
      actions.set_calm(0);
      for (uint32_t i = 0; i < Pct::kFairAfter / pct.window(); ++i) {
        uint32_t changes = 0;
        uint32_t before = i == 0 ? ~0u : actions.at(pct.pick(actions)).id;
        for (uint32_t step = i == 0 ? 0 : 1; step < pct.window(); ++step) {
          const uint32_t now = actions.at(pct.pick(actions)).id;
          changes += before != ~0u && now != before;
          before = now;
        }
        ASSERT_LE(changes, depth - 1) << pct.description();
        changes_of_all += changes;
      }
    }
    EXPECT_GT(changes_of_all, 0u);
  }
  EXPECT_GE(windows.size(), 8u);
  EXPECT_GE(*windows.begin(), 64u);
  EXPECT_LE(*windows.rbegin(), 16384u);
}

TEST(Pct, DisturbsAtMostDepthMinus1TimesAWindowThoughAlwaysEnabled) {
  for (uint32_t depth : {1u, 2u, 5u}) {
    int disturbs_of_all = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      Pct pct(depth);
      pct.begin(seed);
      Blocking machine(seed);
      machine.actions_.enable(kDisturb, ActionClass::disturb, OpKind::none, nullptr);
      const uint32_t windows = 16384 / pct.window();
      uint32_t disturbs = 0;
      for (uint32_t step = 0; step < windows * pct.window(); ++step) {
        disturbs += machine.actions_.at(pct.pick(machine.actions_)).id == kDisturb;
      }
      EXPECT_LE(disturbs, windows * (depth - 1)) << pct.description();
      disturbs_of_all += static_cast<int>(disturbs);
    }
    EXPECT_EQ(disturbs_of_all > 0, depth > 1);
  }
}

TEST(Pct, ADeliveryGetsANewPriorityEachTime) {
  ActionSet actions;
  actions.reset(2);
  actions.enable(0, ActionClass::advance, OpKind::store, nullptr);
  actions.set_calm(0);
  int at_once = 0, late = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Pct pct(1);
    pct.begin(seed);
    for (int i = 0; i < 20; ++i) {
      actions.enable(1, ActionClass::deliver, OpKind::none, nullptr);
      const bool now = actions.at(pct.pick(actions)).id == 1;
      now ? ++at_once : ++late;
      if (!now) break;  // as long as nothing blocks it is late for good: priorities are strict
      actions.disable(1);
    }
    actions.disable(1);
  }
  EXPECT_GT(at_once, 25);
  EXPECT_GT(late, 25);
}

TEST(Pct, IsFairToEveryoneInTheEnd) {
  Pct pct(1);
  pct.begin(3);
  ActionSet actions;
  actions.reset(10);
  for (uint32_t id = 0; id < 9; ++id) {
    actions.enable(id, ActionClass::advance, OpKind::store, nullptr);
  }
  actions.enable(9, ActionClass::disturb, OpKind::none, nullptr);
  actions.set_calm(0);
  for (uint64_t i = 0; i < Pct::kFairAfter; ++i) pct.pick(actions);
  std::vector<int> seen(10);
  for (int i = 0; i < 64'000; ++i) ++seen[actions.at(pct.pick(actions)).id];
  for (uint32_t id = 0; id < 9; ++id) EXPECT_GT(seen[id], 5000);
  EXPECT_GT(seen[9], 50);
  EXPECT_LT(seen[9], 2000);
}

}  // namespace
}  // namespace sd::engine
