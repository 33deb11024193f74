#include "core/engine/chooser.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sd::engine {
namespace {

constexpr uint8_t kPurposes = static_cast<uint8_t>(Purpose::count_);

TEST(Purpose, EveryNameIsUniqueAndLeadsBackToItsPurpose) {
  std::set<std::string> names;
  for (uint8_t i = 0; i < kPurposes; ++i) {
    const Purpose purpose = static_cast<Purpose>(i);
    EXPECT_TRUE(names.insert(purpose_name(purpose)).second) << purpose_name(purpose);
    EXPECT_EQ(purpose_from_name(purpose_name(purpose)), purpose);
  }
}

TEST(Purpose, NamesFitTheAlphabetOfReplayFiles) {
  for (uint8_t i = 0; i < kPurposes; ++i) {
    const std::string name = purpose_name(static_cast<Purpose>(i));
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
  }
}

TEST(Purpose, NamesStandInTheOrderOfTheEnumeration) {
  EXPECT_STREQ(purpose_name(Purpose::alloc_fail), "alloc_fail");
  EXPECT_STREQ(purpose_name(Purpose::hotplug_state), "hotplug_state");
  EXPECT_STREQ(purpose_name(Purpose::op_kind), "op_kind");
  EXPECT_STREQ(purpose_name(Purpose::onoff_cpu), "onoff_cpu");
  EXPECT_STREQ(purpose_name(Purpose::test), "test");
}

TEST(Purpose, UnknownNamesAreRecognisedAsUnknown) {
  EXPECT_EQ(purpose_from_name(""), Purpose::count_);
  EXPECT_EQ(purpose_from_name("op_kin"), Purpose::count_);
  EXPECT_EQ(purpose_from_name("op_kind "), Purpose::count_);
  EXPECT_EQ(purpose_from_name(purpose_name(Purpose::count_)), Purpose::count_);
}

}  // namespace
}  // namespace sd::engine
