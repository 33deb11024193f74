#include "torture/run_state.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "torture/replay_text.h"
#include "torture/user_error.h"

namespace sd::torture {
namespace {

using std::chrono::milliseconds;

Group group(const std::string& signature, uint64_t execution, uint64_t count) {
  Group out;
  out.finding.signature = signature;
  out.finding.execution = execution;
  out.finding.failure.kind = engine::FailureKind::use_after_free;
  out.finding.failure.id = "use-after-free";
  out.finding.failure.function = "f";
  out.finding.failure.message = "a \"quoted\" \n thing";
  out.finding.remark = "remark";
  out.files = {"a/replay.sdr", "a/report.txt", ""};
  out.count = count;
  return out;
}

RunState example() {
  RunState state;
  set_bug(state.scenario, "M09");
  set_strategy(state.scenario, "pct:3");
  state.scenario.machine.cpus = 7;
  state.seed = ~uint64_t{0};
  state.shard = Shard{1, 3};
  state.executions = uint64_t{1} << 60;
  state.keep_going = true;
  state.next = 12;
  state.unfinished = {3, 7};
  state.elapsed = milliseconds(1234);
  // Each number of the totals is another one.
  std::array<uint64_t, sizeof(Totals) / sizeof(uint64_t)> words;
  std::iota(words.begin(), words.end(), 1000);
  state.totals = std::bit_cast<Totals>(words);
  state.groups = {group("x@f", 5, 2)};
  return state;
}

TEST(RunState, ComesBackWhole) {
  const RunState state = example();
  const std::string text = state_json(state);
  const RunState back = parse_state(text, "x");
  EXPECT_EQ(std::memcmp(&back.totals, &state.totals, sizeof(Totals)), 0);
  EXPECT_EQ(scenario_text(back.scenario), scenario_text(state.scenario));
  EXPECT_EQ(back.scenario.strategy, "pct:3");
  EXPECT_EQ(back.seed, state.seed);
  EXPECT_EQ(back.executions, state.executions);
  EXPECT_FALSE(back.duration);
  EXPECT_EQ(back.unfinished, state.unfinished);
  EXPECT_EQ(back.groups[0].finding.failure.message, state.groups[0].finding.failure.message);
  EXPECT_EQ(state_json(back), text);
}

TEST(RunState, RefusesWhatIsNone) {
  const std::string text = state_json(example());
  for (size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_THROW(parse_state(text.substr(0, length), "x"), UserError) << length;
  }
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string out = text;
    out.replace(out.find(from), from.size(), to);
    return out;
  };
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"shootdown-state\": 2", "\"shootdown-state\": 1"},
           {"\"2/3\"", "\"4/3\""},
           {"\"next\": 12", "\"next\": \"12\""},
           {"\"next\": 12", "\"next\": 1e99"},
           {"\"pct:3\"", "\"pct:x\""},
           {"\"cpus\": \"7\"", "\"cpus\": \"0\""},
           {"\"cpus\": \"7\"", "\"cpus\": 7"},
           {"\"kind\": \"", "\"kind\": \"not-"},
           {"\"failures\": [", "\"failures\": [3,"}}) {
    try {
      parse_state(changed(from, to), "x");
      ADD_FAILURE() << to;
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), exit_usage);
      EXPECT_TRUE(std::string(error.what()).starts_with("x is not the state of a run: "));
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST(RunState, FindingsOfSeveralRunsAreOneList) {
  std::vector<Group> groups = {group("a", 9, 1), group("b", 3, 4)};
  merge_groups(&groups, {group("a", 2, 10), group("c", 0, 1)});
  Totals totals;
  finish_groups(&groups, &totals);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].finding.signature, "c");
  EXPECT_EQ(groups[1].finding.signature, "a");
  EXPECT_EQ(groups[1].finding.execution, 2u);
  EXPECT_EQ(groups[1].count, 11u);
  EXPECT_EQ(totals.failures, 16u);
}

}  // namespace
}  // namespace sd::torture
