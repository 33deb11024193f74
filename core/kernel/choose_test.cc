#include "core/kernel/choose.h"

#include <gtest/gtest.h>

#include "core/engine/chooser.h"

namespace sd::kernel {
namespace {

constexpr bool same(choice c, engine::Purpose p) {
  return static_cast<unsigned>(c) == static_cast<unsigned>(p);
}

TEST(ChooseTest, PurposesHaveTheNumbersOfTheEngine) {
  EXPECT_TRUE(same(choice::idle_kind, engine::Purpose::idle_kind));
  EXPECT_TRUE(same(choice::op_kind, engine::Purpose::op_kind));
  EXPECT_TRUE(same(choice::op_cpu, engine::Purpose::op_cpu));
  EXPECT_TRUE(same(choice::op_mask, engine::Purpose::op_mask));
  EXPECT_TRUE(same(choice::op_value, engine::Purpose::op_value));
  EXPECT_TRUE(same(choice::handler_delay, engine::Purpose::handler_delay));
  EXPECT_TRUE(same(choice::sleep_fuzz, engine::Purpose::sleep_fuzz));
  EXPECT_TRUE(same(choice::onoff_cpu, engine::Purpose::onoff_cpu));
}

}  // namespace
}  // namespace sd::kernel
