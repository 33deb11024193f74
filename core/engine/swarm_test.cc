// What is particular to swarm: what it says of itself is what it does.
#include "core/engine/swarm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sd::engine {
namespace {

using testing::MatchesRegex;

// The value of `key` in a description: what follows "key=" up to the next comma; "" without it.
std::string value_of(const std::string& description, const std::string& key) {
  const size_t at = description.find("," + key + "=");
  if (at == std::string::npos) return "";
  const size_t from = at + key.size() + 2;
  return description.substr(from, description.find(',', from) - from);
}

// n of a value "1/n" or "1/n:m".
uint32_t one_in(const std::string& value) {
  return static_cast<uint32_t>(std::stoul(value.substr(2)));
}

// The first seed from 1 on with a description that `wanted` accepts.
template <class Wanted>
uint64_t seed_with(Swarm& swarm, Wanted wanted) {
  for (uint64_t seed = 1; seed < 100'000; ++seed) {
    swarm.begin(seed);
    if (wanted(std::string(swarm.description()))) return seed;
  }
  ADD_FAILURE() << "no such seed";
  return 0;
}

// Two contexts (0 and 1) before operations of kind `op`, an interrupt (2), a disturbance (3), all
// enabled for ever: the ids taken in `steps` steps.
std::vector<uint32_t> taken(Swarm& swarm, uint64_t seed, int steps, OpKind op) {
  ActionSet actions;
  actions.reset(4);
  actions.enable(0, ActionClass::advance, op, nullptr);
  actions.enable(1, ActionClass::advance, op, nullptr);
  actions.enable(2, ActionClass::deliver, OpKind::none, nullptr);
  actions.enable(3, ActionClass::disturb, OpKind::none, nullptr);
  actions.set_calm(0);
  swarm.begin(seed);
  std::vector<uint32_t> ids;
  for (int i = 0; i < steps; ++i) ids.push_back(actions.at(swarm.pick(actions)).id);
  return ids;
}

double count(const std::vector<uint32_t>& ids, uint32_t id) {
  return static_cast<double>(std::count(ids.begin(), ids.end(), id));
}

TEST(Swarm, DescriptionSaysAllThatWasDrawnAndIsNeverCut) {
  Swarm swarm;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    swarm.begin(seed);
    ASSERT_THAT(swarm.description(),
                MatchesRegex("swarm,disturb=1/[0-9]+,interrupts=1/[0-9]+,contexts=1/[0-9]+:[0-9]+"
                             "(,[a-z_]+=(zero|even|last))*"))
        << seed;
  }
}

TEST(Swarm, EveryKindOfTieGetsEveryLawAndEveryFaultIsOffHalfOfTheTime) {
  Swarm swarm;
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 8000; ++seed) {
    swarm.begin(seed);
    for (const char* tie : {"wake_cpu", "wake_path", "irq_kept", "idle_kind", "alloc_fail",
                            "hotplug_fail", "disable_fail"}) {
      ++seen[std::string(tie) + "=" + value_of(swarm.description(), tie)];
    }
  }
  for (const char* tie : {"wake_cpu", "wake_path", "irq_kept", "idle_kind"}) {
    for (const char* law : {"", "zero", "even", "last"})
      EXPECT_NEAR(seen[std::string(tie) + "=" + law], 2000, 250) << tie << law;
  }
  for (const char* fault : {"alloc_fail", "hotplug_fail", "disable_fail"}) {
    for (const char* law : {"", "zero"})
      EXPECT_NEAR(seen[std::string(fault) + "=" + law], 4000, 400) << fault << law;
  }
}

TEST(Swarm, NumbersFollowTheLawThatItSays) {
  Swarm swarm;
  const auto with = [](const char* tie) {
    return [tie](const std::string& description) {
      return description.find(tie) != std::string::npos;
    };
  };
  swarm.begin(seed_with(swarm, with("wake_cpu=zero")));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(swarm.number(5, Purpose::wake_cpu), 0u);
  swarm.begin(seed_with(swarm, with("wake_cpu=last")));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(swarm.number(5, Purpose::wake_cpu), 4u);
  swarm.begin(seed_with(swarm, with("wake_cpu=even")));
  std::vector<int> seen(5);
  for (int i = 0; i < 10'000; ++i) ++seen[swarm.number(5, Purpose::wake_cpu)];
  for (const int n : seen) EXPECT_NEAR(n, 2000, 200);
  swarm.begin(seed_with(swarm, with("alloc_fail=zero")));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(swarm.number(2, Purpose::alloc_fail), 0u);
}

TEST(Swarm, DisturbsAsOftenAsItSays) {
  Swarm swarm;
  for (const uint32_t steps_per_disturb : {4u, 16u, 64u}) {
    const uint64_t seed = seed_with(swarm, [=](const std::string& description) {
      return one_in(value_of(description, "disturb")) == steps_per_disturb &&
             value_of(description, "interrupts") == "1/1" &&
             value_of(description, "contexts").rfind("1/1:", 0) == 0;
    });
    const int steps = 64'000;
    const double expected = static_cast<double>(steps) / steps_per_disturb;
    EXPECT_NEAR(count(taken(swarm, seed, steps, OpKind::store), 3), expected, expected / 5);
  }
}

TEST(Swarm, SlowInterruptsAreTakenRarelyAndStillTaken) {
  Swarm swarm;
  for (const uint32_t slow : {1u, 4u, 16u, 256u}) {
    const uint64_t seed = seed_with(swarm, [=](const std::string& description) {
      return one_in(value_of(description, "interrupts")) == slow &&
             value_of(description, "disturb") == "1/4096" &&
             value_of(description, "contexts").rfind("1/1:", 0) == 0;
    });
    const auto ids = taken(swarm, seed, 100'000, OpKind::store);
    // Of 2 + 1/slow actions.
    const double expected = 100'000.0 / (2 * slow + 1);
    EXPECT_NEAR(count(ids, 2), expected, expected / 4) << slow;
    EXPECT_NEAR(count(ids, 0), count(ids, 1), 3000) << slow;
  }
}

TEST(Swarm, AnInterruptThatIsAllThatIsLeftIsTaken) {
  Swarm swarm;
  ActionSet actions;
  actions.reset(2);
  actions.enable(0, ActionClass::deliver, OpKind::none, nullptr);
  actions.enable(1, ActionClass::deliver, OpKind::none, nullptr);
  actions.set_calm(0);
  swarm.begin(seed_with(swarm, [](const std::string& description) {
    return value_of(description, "interrupts") == "1/256";
  }));
  std::vector<int> seen(2);
  for (int i = 0; i < 1000; ++i) ++seen[actions.at(swarm.pick(actions)).id];
  EXPECT_NEAR(seen[0], 500, 100);
}

// How much more often the busier of the two contexts runs, the window with the largest difference.
double largest_ratio(const std::vector<uint32_t>& ids, size_t window) {
  double largest = 1;
  for (size_t from = 0; from + window <= ids.size(); from += window) {
    const std::vector<uint32_t> part(ids.begin() + static_cast<long>(from),
                                     ids.begin() + static_cast<long>(from + window));
    const double a = 1.0 + count(part, 0);
    const double b = 1.0 + count(part, 1);
    largest = std::max({largest, a / b, b / a});
  }
  return largest;
}

TEST(Swarm, AContextIsSlowForAWindowAndAnotherOneInTheNext) {
  Swarm swarm;
  const uint64_t slow = seed_with(swarm, [](const std::string& description) {
    return value_of(description, "contexts") == "1/256:1024" &&
           value_of(description, "disturb") == "1/4096";
  });
  const auto ids = taken(swarm, slow, 200 * 1024, OpKind::store);
  EXPECT_GT(largest_ratio(ids, 1024), 50);
  EXPECT_NEAR(count(ids, 0), count(ids, 1), 50'000);  // over all windows
  const uint64_t alike = seed_with(swarm, [](const std::string& description) {
    return value_of(description, "contexts") == "1/1:1024" &&
           value_of(description, "disturb") == "1/4096";
  });
  EXPECT_LT(largest_ratio(taken(swarm, alike, 200 * 1024, OpKind::store), 1024), 1.5);
}

TEST(Swarm, AContextThatWaitsIsNeverTheFastOne) {
  Swarm swarm;
  const uint64_t seed = seed_with(swarm, [](const std::string& description) {
    return value_of(description, "contexts") == "1/256:1024" &&
           value_of(description, "disturb") == "1/4096";
  });
  EXPECT_LT(largest_ratio(taken(swarm, seed, 200 * 1024, OpKind::relax), 1024), 2.5);
}

}  // namespace
}  // namespace sd::engine
