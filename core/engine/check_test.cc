#include "core/engine/check.h"

#include <gtest/gtest.h>

namespace sd::engine {
namespace {

TEST(CheckDeathTest, AFailedCheckNamesExpressionAndPlaceAndAsksForAReport) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(SD_CHECK(1 + 1 == 3),
               "shootdown: internal error: 1 \\+ 1 == 3 .*check_test.cc:.*report");
}

TEST(Check, AnExpressionThatHoldsIsEvaluatedOnce) {
  int evaluations = 0;
  SD_CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

}  // namespace
}  // namespace sd::engine
