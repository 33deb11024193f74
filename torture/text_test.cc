#include "torture/text.h"

#include <gtest/gtest.h>

namespace sd::torture {
namespace {

TEST(Text, CountsInWords) {
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(2, "run"), "2 runs");
}

}  // namespace
}  // namespace sd::torture
