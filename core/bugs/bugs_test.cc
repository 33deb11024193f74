#include "core/bugs/bugs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sd::bugs {
namespace {

TEST(Bugs, EveryBugHasOneEntryInOrder) {
  ASSERT_EQ(all().size(), static_cast<size_t>(Bug::count_));
  ASSERT_LE(all().size(), BugSet{}.size());
  for (size_t i = 0; i < all().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all()[i].bug), i) << all()[i].id;
  }
}

TEST(Bugs, NamesAreUniqueAndFindTheBug) {
  std::set<std::string> names;
  for (const BugInfo& entry : all()) {
    EXPECT_TRUE(names.insert(entry.id).second) << entry.id;
    EXPECT_TRUE(names.insert(entry.slug).second) << entry.slug;
    EXPECT_EQ(find(entry.id), &entry);
    EXPECT_EQ(find(entry.slug), &entry);
    if (*entry.alias) {
      EXPECT_EQ(find(entry.alias), &entry);
    }
    EXPECT_EQ(&info(entry.bug), &entry);
  }
  EXPECT_EQ(find("h10")->bug, Bug::h10);
  EXPECT_EQ(find("P06_no_p04")->bug, Bug::h10);
  EXPECT_EQ(find("polling-no-mb")->bug, Bug::polling_no_mb);
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(find("H19"), nullptr);
}

TEST(Bugs, EveryEntryIsTold) {
  for (const BugInfo& entry : all()) {
    EXPECT_STRNE(entry.title, "") << entry.id;
    EXPECT_STRNE(entry.origin, "") << entry.id;
    EXPECT_STRNE(entry.mechanism, "") << entry.id;
    EXPECT_GE(entry.needs.cpus, 1u) << entry.id;
    EXPECT_STRNE(kind_name(entry.kind), "") << entry.id;
    if (entry.kind != Kind::quirk) {
      EXPECT_FALSE(entry.expected.empty()) << entry.id;
    }
  }
}

TEST(Bugs, SubsetsAreMadeOfPatchesAndAreUnsafe) {
  const series::PatchSet posted = *series::find_set("posted");
  for (const BugInfo& entry : all()) {
    const series::PatchSet set = with_forced(posted, bit(entry.bug));
    EXPECT_EQ(entry.kind == Kind::subset, !series::is_safe(set)) << entry.id;
    EXPECT_TRUE((entry.forced_on & entry.forced_off).none()) << entry.id;
  }
}

TEST(Bugs, ForcedPatchesReplaceThoseOfTheScenario) {
  const series::PatchSet set = with_forced({}, bit(Bug::h10));
  EXPECT_TRUE(series::has(set, series::Patch::p06));
  EXPECT_FALSE(series::has(set, series::Patch::p04));
  EXPECT_FALSE(
      series::has(with_forced(*series::find_set("merged"), bit(Bug::h11)), series::Patch::p05));
  EXPECT_EQ(with_forced(*series::find_set("merged"), {}), *series::find_set("merged"));
}

TEST(Bugs, AFailureFindsABugByItsIdOrAsASanitizerNamesIt) {
  const BugInfo& h11 = info(Bug::h11);
  EXPECT_TRUE(finds(h11, "use-after-free"));
  EXPECT_TRUE(finds(h11, "asan-use-after-poison"));
  EXPECT_FALSE(finds(h11, "S-I4"));
  EXPECT_FALSE(finds(h11, ""));
  EXPECT_FALSE(finds(info(Bug::h10), "asan-use-after-poison"));
}

}  // namespace
}  // namespace sd::bugs
