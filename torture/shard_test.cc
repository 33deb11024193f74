#include "torture/shard.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "torture/user_error.h"

namespace sd::torture {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Variables of the environment for as long as this lives.
class Environment {
 public:
  explicit Environment(const Variables& variables) {
    for (const auto& [name, value] : variables) {
      ::setenv(name.c_str(), value.c_str(), 1);
      names_.push_back(name);
    }
  }
  ~Environment() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

TEST(Shard, PartsAreTheWhole) {
  for (const uint64_t executions : {0u, 1u, 2u, 3u, 100u}) {
    std::set<uint64_t> numbers;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 3; i++) {
      const Shard shard{i, 3};
      sum += shard.share_of(executions);
      for (uint64_t nth = 0; nth < shard.share_of(executions); nth++)
        numbers.insert(shard.number(nth));
    }
    EXPECT_EQ(sum, executions);
    EXPECT_EQ(numbers.size(), executions);
    EXPECT_TRUE(numbers.empty() || *numbers.rbegin() == executions - 1);
  }
}

TEST(Shard, KnowsWhichMeet) {
  EXPECT_TRUE((Shard{0, 1}.meets(Shard{2, 3})));
  EXPECT_TRUE((Shard{1, 3}.meets(Shard{1, 3})));
  EXPECT_FALSE((Shard{1, 3}.meets(Shard{2, 3})));
  EXPECT_TRUE((Shard{1, 2}.meets(Shard{0, 3})));   // 3
  EXPECT_FALSE((Shard{1, 2}.meets(Shard{0, 4})));  // odd, even
}

TEST(Shard, IsWrittenFromOne) {
  const Shard shard = parse_shard("2/3");
  EXPECT_EQ(shard.index, 1u);
  EXPECT_EQ(shard.count, 3u);
  EXPECT_EQ(shard.text(), "2/3");
  EXPECT_TRUE(parse_shard("1/1").is_whole());
}

TEST(Shard, ComesFromSlurm) {
  const Environment slurm(Variables{{"SLURM_ARRAY_TASK_ID", "14"},
                                    {"SLURM_ARRAY_TASK_MIN", "10"},
                                    {"SLURM_ARRAY_TASK_STEP", "2"},
                                    {"SLURM_ARRAY_TASK_COUNT", "5"}});
  EXPECT_EQ(parse_shard("auto").text(), "3/5");
}

TEST(Shard, ComesFromKubernetes) {
  const Environment pod(Variables{{"JOB_COMPLETION_INDEX", "0"}});
  EXPECT_EQ(parse_shard("auto/4").text(), "1/4");
}

TEST(Shard, RefusesWhatIsNone) {
  for (const char* text : {"", "1", "0/3", "4/3", "1/0", "1/1000001", "-1/3", "1/3/5", "a/b",
                           "auto", "auto/3", "auto/", "/"}) {
    EXPECT_THROW(parse_shard(text), UserError) << text;
  }
  const Environment pod(Variables{{"JOB_COMPLETION_INDEX", "4"}});
  EXPECT_THROW(parse_shard("auto/4"), UserError);
}

}  // namespace
}  // namespace sd::torture
