#include "core/engine/failure.h"

#include <gtest/gtest.h>

#include <set>

namespace sd::engine {
namespace {

TEST(FailureKind, EveryKindHasANameOfItsOwn) {
  std::set<std::string> names;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(FailureKind::crash); ++i) {
    const std::string name = failure_kind_name(static_cast<FailureKind>(i));
    EXPECT_NE(name, "?");
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(Failure, SignatureIsWhatAndWhereButNotWhen) {
  Failure early, late;
  early.id = late.id = "S-I4";
  early.function = late.function = "csd_unlock";
  early.step = 1;
  late.step = 2;
  EXPECT_EQ(early.signature(), "S-I4@csd_unlock");
  EXPECT_EQ(early.signature(), late.signature());
}

}  // namespace
}  // namespace sd::engine
