#include "torture/handoff.h"

#include <gtest/gtest.h>

#include <set>

#include "core/engine/strategy.h"

namespace sd::torture {
namespace {

struct Sum {
  unsigned bad = 0;
  unsigned deadlocks = 0;
  uint64_t steps = 0;
  std::set<uint64_t> lengths;
};

Sum many(Handoff::Plant plant, const char* strategy, unsigned executions = 2000) {
  engine::Contexts contexts;
  Handoff handoff(2, plant);
  const auto chooser = engine::make_strategy(strategy, nullptr);
  Sum sum;
  for (unsigned i = 0; i < executions; i++) {
    chooser->begin(i);
    const Handoff::Outcome outcome = handoff.run(contexts, *chooser);
    sum.bad += outcome.wrong_results != 0;
    sum.deadlocks += outcome.contexts.deadlock || outcome.contexts.livelock;
    sum.steps += outcome.contexts.steps;
    sum.lengths.insert(outcome.contexts.steps);
  }
  return sum;
}

TEST(Handoff, IsRightUnderEverySchedule) {
  for (const char* strategy : {"random", "pct:3", "pos", "mix", "calm"}) {
    const Sum sum = many(Handoff::Plant::none, strategy);
    EXPECT_EQ(sum.bad, 0u) << strategy;
    EXPECT_EQ(sum.deadlocks, 0u) << strategy;
  }
}

TEST(Handoff, HasManySchedules) {
  EXPECT_GT(many(Handoff::Plant::none, "random").lengths.size(), 5u);
  EXPECT_EQ(many(Handoff::Plant::none, "calm").lengths.size(), 1u);
}

TEST(Handoff, WhatIsBrokenIsFound) {
  EXPECT_EQ(many(Handoff::Plant::lost_unlock, "random").deadlocks, 2000u);
  EXPECT_GT(many(Handoff::Plant::torn_push, "random").deadlocks, 10u);
  EXPECT_LT(many(Handoff::Plant::torn_push, "random").deadlocks, 1990u);
}

TEST(Handoff, IsTheSameForTheSameSeed) {
  EXPECT_EQ(many(Handoff::Plant::none, "mix").steps, many(Handoff::Plant::none, "mix").steps);
}

}  // namespace
}  // namespace sd::torture
