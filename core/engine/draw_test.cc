#include "core/engine/draw.h"

#include <gtest/gtest.h>

#include <array>

namespace sd::engine {
namespace {

TEST(Draw, EveryNumberIsInRangeAndReached) {
  Rng rng(1);
  for (const Purpose purpose : {Purpose::op_kind, Purpose::next_task}) {
    for (const uint32_t n : {2u, 3u, 7u}) {
      std::array<int, 7> seen{};
      for (int i = 0; i < 1000; ++i) {
        const uint32_t number = draw_number(rng, n, purpose);
        ASSERT_LT(number, n);
        ++seen[number];
      }
      for (uint32_t i = 0; i < n; ++i) EXPECT_GT(seen[i], 0) << i << " of " << n;
    }
    for (int i = 0; i < 1000; ++i) ASSERT_LT(draw_number(rng, 1u << 20, purpose), 1u << 20);
  }
}

TEST(Draw, TheWorkloadAndFailureRatesAreUniform) {
  Rng rng(2);
  for (const Purpose purpose :
       {Purpose::op_kind, Purpose::op_cpu, Purpose::op_mask, Purpose::op_value, Purpose::onoff_cpu,
        Purpose::handler_delay, Purpose::sleep_fuzz, Purpose::alloc_fail, Purpose::hotplug_fail,
        Purpose::hotplug_state, Purpose::disable_fail}) {
    std::array<int, 4> seen{};
    for (int i = 0; i < 40000; ++i) ++seen[draw_number(rng, 4, purpose)];
    for (const int n : seen) EXPECT_NEAR(n, 10000, 500) << purpose_name(purpose);
  }
}

TEST(Draw, EverythingElseIsCalmHalfOfTheTimeAndUniformOtherwise) {
  Rng rng(3);
  for (const Purpose purpose : {Purpose::next_task, Purpose::wake_cpu, Purpose::irq_kept,
                                Purpose::migrate_cpu, Purpose::host_steal}) {
    std::array<int, 4> seen{};
    for (int i = 0; i < 40000; ++i) ++seen[draw_number(rng, 4, purpose)];
    EXPECT_NEAR(seen[0], 25000, 1000) << purpose_name(purpose);
    for (uint32_t i = 1; i < 4; ++i) EXPECT_NEAR(seen[i], 5000, 400) << purpose_name(purpose);
  }
}

}  // namespace
}  // namespace sd::engine
