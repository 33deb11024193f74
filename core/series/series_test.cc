#include "core/series/series.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sd::series {
namespace {

TEST(Series, NamesAndNumbersAreUniqueAndInOrder) {
  std::set<std::string> names;
  int last = -1;
  for (const PatchInfo& entry : all()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_GT(static_cast<int>(entry.patch), last) << entry.name;
    EXPECT_LT(static_cast<int>(entry.patch), 64) << entry.name;
    last = static_cast<int>(entry.patch);
    EXPECT_STRNE(entry.title, "") << entry.name;
    EXPECT_STRNE(entry.origin, "") << entry.name;
    EXPECT_STRNE(entry.changes, "") << entry.name;
    EXPECT_EQ(&info(entry.patch), &entry);
  }
}

TEST(Series, IsFoundByNameInAnyCase) {
  ASSERT_NE(find("p06"), nullptr);
  EXPECT_EQ(find("p06"), find("P06"));
  EXPECT_EQ(find("P06-MERGED")->patch, Patch::p06_merged);
  EXPECT_EQ(find("V6.17")->patch, Patch::v6_17);
  EXPECT_EQ(find("P10"), nullptr);
  EXPECT_EQ(find(""), nullptr);
  EXPECT_TRUE(find_set("MERGED").has_value());
  EXPECT_FALSE(find_set("none").has_value());
}

TEST(Series, NamedSetsAreSafe) {
  for (const NamedSet& set : named_sets()) EXPECT_TRUE(is_safe(set.patches)) << set.name;
}

TEST(Series, NamedSetsHoldWhatTheirNameSays) {
  EXPECT_TRUE(find_set("base")->none());
  EXPECT_EQ(*find_set("base-6.17"), bit(Patch::v6_17));
  EXPECT_EQ(find_set("posted")->count(), 9u);
  EXPECT_FALSE(has(*find_set("posted"), Patch::p06_merged));
  EXPECT_EQ(find_set("merged")->count(), all().size());
  EXPECT_EQ(sets_with(Patch::v7x), std::vector<std::string_view>{"merged"});
}

TEST(Series, PrerequisitesStandBeforeThePatch) {
  for (const PatchInfo& entry : all()) {
    for (const Prerequisite& need : entry.needs) EXPECT_LT(need.patch, entry.patch) << entry.name;
  }
}

TEST(Series, MissingSafetyPrerequisitesAreNamed) {
  PatchSet set = *find_set("posted");
  set.reset(static_cast<unsigned>(Patch::p04));
  const std::vector<Unmet> missing = unmet(set);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].patch, Patch::p06);
  EXPECT_EQ(missing[0].needs, Patch::p04);
  // P01 is missed by its dependents only as noise.
  set = *find_set("posted");
  set.reset(static_cast<unsigned>(Patch::p01));
  EXPECT_TRUE(is_safe(set));
}

}  // namespace
}  // namespace sd::series
