#include "torture/spinning.h"

#include <gtest/gtest.h>

namespace sd::torture {
namespace {

std::string busiest(const std::vector<const char*>& functions) {
  std::vector<engine::Event> events;
  for (const char* function : functions) {
    engine::Event event;
    event.function = function;
    events.push_back(event);
  }
  return busiest_function(events);
}

TEST(Spinning, TheFunctionWithMostEventsIsNamed) {
  EXPECT_EQ(busiest({"a", "csd_lock_wait", "b", "csd_lock_wait"}), "csd_lock_wait");
}

TEST(Spinning, OfEqualsTheLaterOne) {
  EXPECT_EQ(busiest({"b", "a", "a", "b"}), "b");
  EXPECT_EQ(busiest({"a", "b", "b", "a"}), "a");
}

TEST(Spinning, TheIdleLoopOnlyIfThereIsNothingElse) {
  EXPECT_EQ(busiest({"do_idle", "a", "do_idle", ""}), "a");
  EXPECT_EQ(busiest({"do_idle", "", "", nullptr}), "do_idle");
}

TEST(Spinning, NothingIsNamedWhereNoFunctionIsKnown) {
  EXPECT_EQ(busiest({}), "");
  EXPECT_EQ(busiest({"", nullptr}), "");
}

}  // namespace
}  // namespace sd::torture
