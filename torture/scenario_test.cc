#include "torture/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/bugs/bugs.h"
#include "core/engine/rng.h"
#include "core/series/series.h"
#include "torture/cli.h"
#include "torture/fields.h"
#include "torture/options.h"
#include "torture/parse.h"
#include "torture/user_error.h"

namespace sd::torture {
namespace {

// A scenario with every value drawn, but none that excludes another.
Scenario drawn(uint64_t seed) {
  engine::Rng rng(seed);
  Scenario scenario;
  for (const Field& field : fields()) {
    const auto span = static_cast<uint64_t>(field.max - field.min + 1);
    field.set(scenario, field.min + static_cast<int64_t>(rng.next() % span));
  }
  scenario.machine.boot_cpus %= scenario.machine.cpus + 1;
  scenario.machine.nodes %= scenario.machine.cpus + 1;
  scenario.scf.ops = 1 + scenario.scf.ops % 8;
  scenario.machine.preempt_full = rng.below(2) == 0;
  for (const auto& patch : series::all()) {
    scenario.machine.patches.set(static_cast<size_t>(patch.patch), rng.below(2) == 0);
  }
  for (const auto& bug : bugs::all()) {
    if (rng.below(20) != 0) continue;
    Scenario with = scenario;
    with.machine.bugs |= bugs::bit(bug.bug);
    with.machine.patches = bugs::with_forced(with.machine.patches, with.machine.bugs);
    try {
      check_scenario(with);
      scenario = with;
    } catch (const UserError&) {  // bugs that exclude each other
    }
  }
  check_scenario(scenario);
  return scenario;
}

TEST(Scenario, KeyValuesAndBackIsTheSame) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    const KeyValues pairs = to_key_values(drawn(seed));
    EXPECT_EQ(to_key_values(from_key_values(pairs)), pairs) << seed;
  }
}

// The options as the program parses them.
Scenario from_options(const std::string& text) {
  TortureOptions options;
  Command program;
  program.options = torture_option_table(&options);
  program.run = [&options] {
    options.finish();
    return exit_clean;
  };
  EXPECT_EQ(run_command_line(program, "", split(text, ' ')), exit_clean) << text;
  return options.scenario;
}

TEST(Scenario, OptionsAndBackIsTheSame) {
  for (uint64_t seed = 0; seed < 30; seed++) {
    const Scenario scenario = drawn(seed);
    EXPECT_EQ(to_key_values(from_options(to_options(scenario))), to_key_values(scenario))
        << to_options(scenario);
  }
}

TEST(Scenario, OptionsNameOnlyWhatIsNotDefault) {
  EXPECT_EQ(to_options(Scenario()), "--cpus 4 --series merged");
  EXPECT_EQ(to_options(from_options("--cpus 8 --bug H10 --series merged")),
            "--cpus 8 --series merged --bug H10");
  EXPECT_EQ(to_options(
                from_options("--series base --patch +P04 --preempt none --strategy pct:3 --ops 7")),
            "--cpus 4 --series base --patch +P04 --preempt none --strategy pct:3 --ops 7");
}

TEST(Scenario, SwitchesAreDifferencesFromTheDefaultSeries) {
  EXPECT_EQ(switches_text(Scenario()), "");
  EXPECT_EQ(switches_text(from_options("--bug H10")), "H10");
  EXPECT_EQ(switches_text(from_options("--series base --patch +P04 --bug M03")), "base+P04+M03");
  EXPECT_EQ(switches_text(from_options("--patch -P05 --bug CANARY")), "-P05+CANARY");
}

TEST(Scenario, TheStepBoundGrowsWithTheWorkAndIsBounded) {
  const uint64_t small = step_bound(from_options("--cpus 4 --ops 4"));
  EXPECT_LT(small, step_bound(from_options("--cpus 4 --ops 20000")));
  EXPECT_LT(small, step_bound(from_options("--cpus 512 --ops 4")));
  EXPECT_EQ(step_bound(from_options("--step_bound 77")), 77u);
  for (uint64_t seed = 0; seed < 100; seed++) EXPECT_LE(step_bound(drawn(seed)), kMaxSteps);
}

// What from_key_values() says about pairs with one change.
ScenarioError error_after(const std::function<void(KeyValues&)>& change) {
  KeyValues pairs = to_key_values(Scenario());
  change(pairs);
  try {
    from_key_values(pairs);
  } catch (const ScenarioError& error) {
    return error;
  }
  return {};
}

size_t index_of(const KeyValues& pairs, const std::string& key) {
  const auto at =
      std::find_if(pairs.begin(), pairs.end(), [&](const auto& p) { return p.first == key; });
  return static_cast<size_t>(at - pairs.begin());
}

TEST(Scenario, WrongPairsAreNamedWithTheirPlace) {
  const KeyValues standard = to_key_values(Scenario());
  const auto set = [&](const std::string& key, const std::string& value) {
    return error_after([&](KeyValues& pairs) { pairs[index_of(pairs, key)].second = value; });
  };
  struct Case {
    const char* key;
    const char* value;
    const char* message;
  };
  for (const Case& c : {
           Case{"cpus", "1000000", "cpus: '1000000' is not a number from 1 to 512"},
           Case{"kind", "tlb", "kind: 'tlb' is not a kind of torture of this version: scf"},
           Case{"memory", "lkmm", "memory: 'lkmm' is not available in this version, only sc"},
           Case{"preempt", "", "preempt: '' is not a preemption model: full, none"},
           Case{"patches", "P01 P77",
                "patches: 'P77' is not a patch; shootdown series list shows them"},
           Case{"bugs", "X1",
                "bugs: 'X1' is not a bug of the bank; shootdown bugs list shows them"},
           Case{"shutdown", "7", "shutdown: '7' is not 0 or 1"},
       }) {
    const ScenarioError error = set(c.key, c.value);
    EXPECT_EQ(error.message, c.message);
    EXPECT_EQ(error.index, index_of(standard, c.key)) << c.key;
  }
  const ScenarioError unknown = error_after([](KeyValues& pairs) {
    pairs.insert(pairs.begin(), {"cpu", "4"});
  });
  EXPECT_EQ(unknown.message, "'cpu' is not a key of this version");
  EXPECT_EQ(unknown.index, 0u);
  const ScenarioError missing = error_after([](KeyValues& pairs) { pairs.pop_back(); });
  EXPECT_EQ(missing.message, "a line is missing: " + standard.back().first);
  EXPECT_EQ(missing.index, standard.size() - 1);
  // Fine one by one, not together.
  EXPECT_NE(set("bugs", "H10").message.find("bug H10 needs patch P04 off, but it is on"),
            std::string::npos);
}

}  // namespace
}  // namespace sd::torture
