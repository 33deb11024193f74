#include "torture/scf/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace sd::scf {
namespace {

using ::testing::ElementsAre;

std::array<int, kPrims> all(int weight) {
  std::array<int, kPrims> weights;
  weights.fill(weight);
  return weights;
}

std::array<int, kPrims> with(std::array<int, kPrims> weights, Prim prim, int weight) {
  weights[static_cast<unsigned>(prim)] = weight;
  return weights;
}

// The weights of the table, by primitive.
std::map<Prim, uint64_t> table(const Selector& selector) {
  std::map<Prim, uint64_t> weights;
  uint64_t before = 0;
  for (unsigned i = 0; i < selector.count; ++i) {
    weights[selector.entry[i].prim] = selector.entry[i].cumulative - before;
    before = selector.entry[i].cumulative;
  }
  EXPECT_EQ(before, selector.total);
  return weights;
}

TEST(SelectorTest, DefaultWeightsOfTheKernelGrowWithTheNumberOfCpus) {
  Selector selector;
  ASSERT_EQ(build_selector(all(-1), 4, &selector), SelectorError::none);
  auto weights = table(selector);
  for (Prim prim : {Prim::resched, Prim::single, Prim::single_rpc, Prim::single_wait}) {
    EXPECT_EQ(weights[prim], 8u);
  }
  for (Prim prim : {Prim::many, Prim::many_wait}) EXPECT_EQ(weights[prim], 2u);
  for (Prim prim : {Prim::all, Prim::all_wait}) EXPECT_EQ(weights[prim], 1u);
  EXPECT_EQ(weights.size(), kPrims);
  ASSERT_EQ(build_selector(all(-1), 16, &selector), SelectorError::none);
  EXPECT_EQ(table(selector)[Prim::single_rpc], 32u);
}

TEST(SelectorTest, EntriesStandInTheOrderOfTheKernelsTable) {
  Selector selector;
  ASSERT_EQ(build_selector(all(1), 4, &selector), SelectorError::none);
  for (unsigned i = 0; i < kPrims; ++i) EXPECT_EQ(selector.entry[i].prim, static_cast<Prim>(i));
}

TEST(SelectorTest, AnExplicitZeroStaysWhereTheOthersGetTheirDefaults) {
  Selector selector;
  ASSERT_EQ(build_selector(with(all(-1), Prim::single, 0), 4, &selector), SelectorError::none);
  const auto weights = table(selector);
  EXPECT_EQ(weights.count(Prim::single), 0u);
  EXPECT_EQ(weights.at(Prim::single_wait), 8u);
}

TEST(SelectorTest, OneGivenWeightTurnsTheOthersOff) {
  Selector selector;
  ASSERT_EQ(build_selector(with(all(-1), Prim::resched, 3), 4, &selector), SelectorError::none);
  ASSERT_EQ(selector.count, 1u);
  EXPECT_EQ(selector.entry[0].prim, Prim::resched);
  EXPECT_EQ(selector.total, 3u);
  ASSERT_EQ(build_selector(with(all(-1), Prim::irq_work, 1), 4, &selector), SelectorError::none);
  ASSERT_EQ(selector.count, 1u);
  EXPECT_EQ(selector.entry[0].prim, Prim::irq_work);
}

TEST(SelectorTest, NegativeWeightsCountAsNotGivenWhereNoneIsPositive) {
  Selector selector;
  ASSERT_EQ(build_selector(with(all(-1), Prim::all, -7), 4, &selector), SelectorError::none);
  EXPECT_EQ(table(selector)[Prim::all], 1u);
}

TEST(SelectorTest, NothingToPickFromIsAnError) {
  Selector selector;
  EXPECT_EQ(build_selector(all(0), 4, &selector), SelectorError::all_zero);
  EXPECT_STREQ(selector_error_text(SelectorError::all_zero), "all zero weights makes no sense");
}

TEST(SelectorTest, WeightsThatDoNotFitAreAnError) {
  Selector selector;
  EXPECT_EQ(build_selector(with(with(all(0), Prim::many, 5), Prim::all, -2), 4, &selector),
            SelectorError::too_large);
  EXPECT_EQ(build_selector(with(with(all(0), Prim::many, 0x7fffffff), Prim::all, 0x7fffffff), 4,
                           &selector),
            SelectorError::none);
  EXPECT_EQ(build_selector(all(0x7fffffff), 4, &selector), SelectorError::too_large);
  EXPECT_NE(selector_error_text(SelectorError::too_large), nullptr);
  EXPECT_EQ(selector_error_text(SelectorError::none), nullptr);
}

TEST(SelectorTest, ThePickIsTheFirstEntryThatReachesTheDraw) {
  Selector selector;
  const auto weights = with(with(with(all(0), Prim::single, 2), Prim::many, 3), Prim::all_wait, 1);
  ASSERT_EQ(build_selector(weights, 4, &selector), SelectorError::none);
  std::vector<Prim> picked;
  for (uint64_t w = 0; w <= selector.total; ++w) picked.push_back(pick(selector, w));
  // The first entry has one chance more than its weight.
  EXPECT_THAT(picked, ElementsAre(Prim::single, Prim::single, Prim::single, Prim::many, Prim::many,
                                  Prim::many, Prim::all_wait));
}

TEST(SelectorTest, EveryPrimitiveHasItsNames) {
  for (unsigned i = 0; i < kPrims; ++i) {
    const auto prim = static_cast<Prim>(i);
    EXPECT_EQ(std::string(prim_weight_name(prim)).substr(0, 7), "weight_");
    EXPECT_NE(std::string(prim_name(prim)), "");
  }
  EXPECT_STREQ(prim_weight_name(Prim::single_rpc), "weight_single_rpc");
  EXPECT_STREQ(prim_name(Prim::single_rpc), "smp_call_function_single_rpc");
  EXPECT_TRUE(prim_waits(Prim::single_rpc));
  EXPECT_FALSE(prim_waits(Prim::resched));
}

}  // namespace
}  // namespace sd::scf
