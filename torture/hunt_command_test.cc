#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "torture/test_program.h"

namespace sd::torture {
namespace {

using Json = nlohmann::json;

TEST(Hunt, FindsABugWithEverySeedAndItReplays) {
  const ScratchDir dir;
  const ProgramResult result =
      run_program(dir, {"bugs", "hunt", "canary", "m10", "--seeds", "3", "--json", "hunt.json"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(result.last_line(), "hunt:--- SUCCESS: 2 of 2 bugs found with every seed");
  const Json json = Json::parse(slurp(dir.path("hunt.json")));
  ASSERT_EQ(json.at("bugs").size(), 2u);
  for (const Json& bug : json.at("bugs")) {
    EXPECT_EQ(bug.at("found"), 3);
    EXPECT_EQ(bug.at("of"), 3);
    EXPECT_GE(bug.at("median_executions"), 1);
    ASSERT_EQ(bug.at("replays").size(), 3u);
    for (const auto& replay : bug.at("replays"))
      EXPECT_EQ(run_program(dir, {"replay", "--quiet", replay.get<std::string>()}).code, 1);
  }
}

// Masks on the heap, failing allocations, cpus_read_lock, csd-lock debugging.
TEST(Hunt, MeetsWhatABugNeeds) {
  const ScratchDir dir;
  std::vector<std::string> words = {"bugs", "hunt", "M24", "Q01", "Q05", "--seeds", "1"};
#if !defined(SD_TSAN)  // which sees M25's data race before an oracle sees what comes of it
  words.insert(words.end(), "M25");
#endif
  const std::string all = std::to_string(words.size() - 4);
  const ProgramResult result = run_program(dir, words);
  EXPECT_EQ(result.last_line(),
            "hunt:--- SUCCESS: " + all + " of " + all + " bugs found with every seed")
      << result.out << result.err;
}

// Which execution finds it depends on the seed alone.
TEST(Hunt, CountsTheSameExecutionsWithAnyNumberOfJobs) {
  const ScratchDir dir;
  const auto executions = [&](const char* jobs) {
    run_program(dir,
                {"bugs", "hunt", "H11", "--seeds", "4", "--jobs", jobs, "--json", "hunt.json"});
    std::vector<int> out;
    const Json json = Json::parse(slurp(dir.path("hunt.json")));
    for (const Json& search : json.at("bugs").at(0).at("searches"))
      out.push_back(search.at("executions"));
    return out;
  };
  EXPECT_EQ(executions("1"), executions("3"));
}

TEST(Hunt, EndsWithTheBudgetAndSaysWhatWasNotFound) {
  const ScratchDir dir;
  const ProgramResult result =
      run_program(dir, {"bugs", "hunt", "Q03", "canary", "--seeds", "1", "--seed", "1", "--budget",
                        "1ms", "--jobs", "1", "--json", "hunt.json"});
  EXPECT_EQ(result.code, 1) << result.out;
  const Json json = Json::parse(slurp(dir.path("hunt.json")));
  const Json& bug = json.at("bugs").at(1);
  EXPECT_EQ(bug.at("id"), "Q03");  // which no oracle sees
  EXPECT_EQ(bug.at("found"), 0);
  EXPECT_TRUE(bug.at("median_executions").is_null());
  EXPECT_GE(bug.at("searches").at(0).at("executions"), 1);
}

TEST(Hunt, RefusesWhatItCannotHunt) {
  const ScratchDir dir;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"bugs", "hunt", "nothing"},
                                                {"bugs", "hunt", "M29"},
                                                {"bugs", "hunt", "--seeds", "0"},
                                                {"bugs", "hunt", "--torture", "tlb"}}) {
    const ProgramResult result = run_program(dir, words);
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_TRUE(result.one_error_line()) << result.err;
  }
}

}  // namespace
}  // namespace sd::torture
