// What every strategy promises, whatever it is.
#include "core/engine/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/engine/rng.h"

namespace sd::engine {
namespace {

int word[8];  // addresses for actions

// A menu that changes like a machine's: contexts come to operations on a few addresses, deliveries
// appear and vanish once taken, a disturbance is always there. Deterministic given the picks.
class Menu {
 public:
  static constexpr uint32_t kContexts = 4, kDeliveries = 4;

  Menu() {
    actions_.reset(kContexts + kDeliveries + 1);
    for (uint32_t i = 0; i < kContexts; ++i) advance(i);
    actions_.enable(kContexts + kDeliveries, ActionClass::disturb, OpKind::none, nullptr);
    actions_.set_calm(0);
  }

  const ActionSet& actions() const { return actions_; }

  void take(uint32_t index) {
    const Action taken = actions_.at(index);
    if (taken.cls == ActionClass::deliver) actions_.disable(taken.id);
    if (taken.cls == ActionClass::advance) {
      advance(taken.id);
      if (rng_.below(3) == 0) {
        actions_.enable(kContexts + rng_.below(kDeliveries), ActionClass::deliver, OpKind::none,
                        nullptr);
      }
      actions_.set_calm(taken.id);
    } else {
      actions_.set_calm(rng_.below(kContexts));
    }
  }

 private:
  void advance(uint32_t id) {
    const OpKind ops[] = {OpKind::none, OpKind::load, OpKind::store, OpKind::rmw, OpKind::relax};
    actions_.enable(id, ActionClass::advance, ops[rng_.below(5)], &word[rng_.below(8)]);
  }

  ActionSet actions_;
  Rng rng_{7};
};

// The answers of one execution of `steps` steps, a number drawn after every fourth.
std::vector<uint32_t> answers(Chooser& chooser, uint64_t seed, int steps) {
  std::vector<uint32_t> out;
  Menu menu;
  chooser.begin(seed);
  for (int i = 0; i < steps; ++i) {
    const uint32_t index = chooser.pick(menu.actions());
    EXPECT_LT(index, menu.actions().size());
    out.push_back(index);
    menu.take(index);
    if (i % 4 == 0) {
      const uint32_t n = 2 + static_cast<uint32_t>(i) % 9;
      const uint32_t number =
          chooser.number(n, (i & 8) != 0 ? Purpose::op_kind : Purpose::wake_cpu);
      EXPECT_LT(number, n);
      out.push_back(number);
    }
  }
  return out;
}

class AnyStrategy : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Chooser> make() const { return make_strategy(GetParam(), nullptr); }
};

// All but calm, which has one answer, and leaves it to the machine to say what is calm.
class RandomisedStrategy : public AnyStrategy {
 protected:
  // Strict priorities are fair in the long run only.
  bool may_use_pct() const {
    return std::string(GetParam()).rfind("pct", 0) == 0 || std::string(GetParam()) == "mix";
  }
};

std::string test_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Calm, AnyStrategy, testing::Values("calm"), test_name);
const auto kRandomised =
    testing::Values("random", "pct:1", "pct:2", "pct:5", "pct:64", "pos", "swarm", "mix");
INSTANTIATE_TEST_SUITE_P(Randomised, AnyStrategy, kRandomised, test_name);
INSTANTIATE_TEST_SUITE_P(Randomised, RandomisedStrategy, kRandomised, test_name);

TEST_P(AnyStrategy, SameSeedGivesTheSameAnswersWhateverWasBefore) {
  const auto once = make(), again = make();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto expected = answers(*once, seed, 3000);
    const std::string description = once->description();
    answers(*again, seed + 1000, 500);  // leaves nothing behind
    EXPECT_EQ(answers(*again, seed, 3000), expected);
    EXPECT_EQ(again->description(), description);
  }
}

TEST_P(RandomisedStrategy, DifferentSeedsGiveDifferentAnswers) {
  const auto chooser = make();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_NE(answers(*chooser, seed, 200), answers(*chooser, seed + 1, 200)) << seed;
  }
}

TEST_P(AnyStrategy, DescriptionBeginsWithTheNameOfAStrategy) {
  const auto chooser = make();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    chooser->begin(seed);
    const std::string description = chooser->description();
    const std::string name = description.substr(0, description.find(','));
    EXPECT_NE(make_strategy(name, nullptr), nullptr) << description;
    if (std::string(GetParam()) != "mix") {
      EXPECT_EQ(name, GetParam());
    }
  }
}

// How often each of these was taken in `steps` steps: two contexts and a disturbance, always
// enabled.
std::vector<int> counts_of_three(Chooser& chooser, uint64_t seed, int steps, OpKind op) {
  ActionSet actions;
  actions.reset(3);
  actions.enable(0, ActionClass::advance, op, &word[0]);
  actions.enable(1, ActionClass::advance, op, &word[0]);
  actions.enable(2, ActionClass::disturb, OpKind::none, nullptr);
  actions.set_calm(0);
  std::vector<int> counts(3);
  chooser.begin(seed);
  for (int i = 0; i < steps; ++i) ++counts[actions.at(chooser.pick(actions)).id];
  return counts;
}

TEST_P(RandomisedStrategy, StarvesNoContextForEver) {
  const auto chooser = make();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const int steps = may_use_pct() ? 100'000 : 10'000;
    const auto counts = counts_of_three(*chooser, seed, steps, OpKind::store);
    for (uint32_t id = 0; id < 3; ++id)
      EXPECT_GT(counts[id], 0) << "action " << id << " seed " << seed;
  }
}

TEST_P(RandomisedStrategy, LetsNoWaitingContextStarveTheOneItWaitsFor) {
  const auto chooser = make();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto counts = counts_of_three(*chooser, seed, 10'000, OpKind::relax);
    EXPECT_GT(counts[0], 500) << seed;
    EXPECT_GT(counts[1], 500) << seed;
  }
}

TEST_P(AnyStrategy, DisturbsNowAndThenButNeverMostOfTheTime) {
  const auto chooser = make();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto counts = counts_of_three(*chooser, seed, 10'000, OpKind::load);
    EXPECT_LT(counts[2], 5'000) << seed;
  }
}

TEST_P(RandomisedStrategy, CanDisturbWhenNothingElseIsLeft) {
  ActionSet actions;
  actions.reset(2);
  actions.enable(0, ActionClass::disturb, OpKind::none, nullptr);
  actions.enable(1, ActionClass::disturb, OpKind::none, nullptr);
  actions.set_calm(1);
  const auto chooser = make();
  std::vector<int> counts(2);
  chooser->begin(1);
  for (int i = 0; i < 1000; ++i) ++counts[actions.at(chooser->pick(actions)).id];
  EXPECT_GT(std::min(counts[0], counts[1]), 0);
}

TEST_P(RandomisedStrategy, WorkloadNumbersAreUniform) {
  const auto chooser = make();
  std::vector<int> seen(5);
  for (uint64_t seed = 0; seed < 500; ++seed) {
    chooser->begin(seed);
    for (int i = 0; i < 100; ++i) ++seen[chooser->number(5, Purpose::op_kind)];
  }
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);
}

// One context makes 40 steps; the bug needs another's only step between two certain ones of them.
bool finds_narrow_window(Chooser& chooser, uint64_t seed) {
  ActionSet actions;
  actions.reset(2);
  actions.enable(0, ActionClass::advance, OpKind::store, &word[0]);
  actions.enable(1, ActionClass::advance, OpKind::store, &word[0]);
  actions.set_calm(0);
  chooser.begin(seed);
  for (int steps = 0; steps < 40; ++steps) {
    if (actions.at(chooser.pick(actions)).id == 1) return steps == 23;
  }
  return false;
}

TEST(Strategy, PctMeetsADepth2BugAsOftenAsItsGuaranteeSaysAndRandomDoesNot) {
  const auto pct = make_strategy("pct:2", nullptr), random = make_strategy("random", nullptr);
  int by_pct = 0, by_random = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    by_pct += finds_narrow_window(*pct, seed);
    by_random += finds_narrow_window(*random, seed);
  }
  // 1/2 that context 0 is first, 1/9 for the window of 64 steps and 1/64 for the step: 17 of 20,000
  // from that window alone; all windows together give twice that.
  EXPECT_GT(by_pct, 17);
  EXPECT_LT(by_random, 5);
}

TEST(Strategy, MixDrawsEveryStrategyAboutEquallyOften) {
  const auto mix = make_strategy("mix", nullptr);
  int random = 0, pct = 0, pos = 0;
  std::vector<int> depths(6);
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    mix->begin(seed);
    const std::string what = mix->description();
    random += what.rfind("random", 0) == 0;
    pos += what.rfind("pos", 0) == 0;
    pct += what.rfind("pct:", 0) == 0;
    if (what.rfind("pct:", 0) == 0) ++depths.at(static_cast<size_t>(what[4] - '0'));
  }
  EXPECT_EQ(random + pct + pos, 3000);
  for (const int n : {random, pct, pos}) EXPECT_NEAR(n, 1000, 100);
  for (int depth = 2; depth <= 5; ++depth) EXPECT_NEAR(depths[static_cast<size_t>(depth)], 250, 60);
}

TEST(Strategy, AnUnknownSpecGetsOneLineThatSaysWhatIsKnown) {
  for (const char* spec : {"", "Random", "random ", "pct", "pct:", "pct:0", "pct:65", "pct:-1",
                           "pct:2x", "pct:99999999999999999999", "pct: 2", "pos:1", "mix,calm"}) {
    std::string error;
    EXPECT_EQ(make_strategy(spec, &error), nullptr) << spec;
    EXPECT_EQ(error,
              "unknown strategy '" + std::string(spec) +
                  "': expected one of random, calm, pct:DEPTH (DEPTH 1 to 64), pos, swarm, mix");
  }
  std::string error;
  EXPECT_EQ(make_strategy(std::string(1000, '\n'), &error), nullptr);
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_LT(error.size(), 150u);
  EXPECT_EQ(make_strategy("nonsense", nullptr), nullptr);
}

}  // namespace
}  // namespace sd::engine
