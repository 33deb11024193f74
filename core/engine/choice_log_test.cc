#include "core/engine/choice_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/engine/rng.h"

namespace sd::engine {
namespace {

Choice random_choice(Rng& rng) {
  const uint32_t count = 2 + rng.below(rng.below(4) == 0 ? kMaxChoiceCount - 1 : 8);
  const bool is_action = rng.below(4) != 0;
  const auto purposes = static_cast<uint32_t>(Purpose::count_);
  return {rng.below(count), count, is_action,
          is_action ? Purpose::test : static_cast<Purpose>(rng.below(purposes))};
}

std::vector<Choice> random_choices(uint64_t seed, int n) {
  Rng rng(seed);
  std::vector<Choice> choices;
  for (int i = 0; i < n; ++i) choices.push_back(random_choice(rng));
  return choices;
}

class ChoiceLogTest : public testing::Test {
 protected:
  ChoiceLogTest() {
    char name[] = "/tmp/sd_choice_log_XXXXXX";
    directory_ = mkdtemp(name);
    path_ = directory_ + "/log";
  }
  ~ChoiceLogTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<ChoiceLog> create(size_t capacity = ChoiceLog::kDefaultCapacity) {
    std::string error;
    auto log = ChoiceLog::create(path_, capacity, &error);
    EXPECT_NE(log, nullptr) << error;
    return log;
  }

  LoggedExecution read_file() {
    std::string error;
    auto log = read_choice_log(path_, &error);
    EXPECT_TRUE(log.has_value()) << error;
    return log.value_or(LoggedExecution{});
  }

  static LoggedExecution read(const std::unique_ptr<ChoiceLog>& log) {
    std::string error;
    auto read = log->read(&error);
    EXPECT_TRUE(read.has_value()) << error;
    return read.value_or(LoggedExecution{});
  }

  // Runs `body` in a child; returns how that ended.
  template <typename Body>
  static int in_child(Body body) {
    const pid_t pid = fork();
    if (pid == 0) {
      body();
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return status;
  }

  std::string directory_, path_;
};

TEST_F(ChoiceLogTest, WhatWasAppendedIsReadBack) {
  const auto choices = random_choices(1, 10'000);
  for (auto& log : {create(), ChoiceLog::in_memory()}) {
    ASSERT_TRUE(log->set_scenario("cpus: 4\n"));
    log->begin(17, 0xdeadbeefcafe);
    for (const Choice& choice : choices) log->append(choice);
    const LoggedExecution seen = read(log);
    EXPECT_EQ(seen.state, LogState::running);
    EXPECT_EQ(seen.execution, 17u);
    EXPECT_EQ(seen.seed, 0xdeadbeefcafeu);
    EXPECT_EQ(seen.scenario, "cpus: 4\n");
    EXPECT_FALSE(seen.overflowed);
    EXPECT_EQ(seen.choices, choices);
  }
  EXPECT_EQ(read_file().choices, choices);
}

TEST_F(ChoiceLogTest, AnOrdinaryActionTakesTwoBytes) {
  const auto log = ChoiceLog::in_memory();
  log->begin(0, 0);
  log->append({63, 127, true, Purpose::test});
  EXPECT_EQ(log->bytes(), 2u);
  log->append({63, 127, false, Purpose::op_kind});
  EXPECT_EQ(log->bytes(), 5u);
}

TEST_F(ChoiceLogTest, BeginForgetsTheChoicesOfTheExecutionBefore) {
  const auto log = create();
  log->begin(1, 11);
  for (const Choice& choice : random_choices(1, 100)) log->append(choice);
  log->set_state(LogState::failed);
  EXPECT_EQ(read_file().state, LogState::failed);
  log->begin(2, 22);
  EXPECT_TRUE(read_file().choices.empty());
  EXPECT_EQ(read_file().execution, 2u);
  EXPECT_EQ(read_file().state, LogState::running);
  log->append({1, 2, true, Purpose::test});
  log->set_state(LogState::idle);
  EXPECT_EQ(read_file().choices.size(), 1u);
  EXPECT_EQ(read_file().state, LogState::idle);
}

TEST_F(ChoiceLogTest, SurvivesAbortAndKillOfTheProcess) {
  const auto choices = random_choices(3, 300'000);
  for (const int signal : {SIGABRT, SIGKILL, SIGSEGV}) {
    const int status = in_child([&] {
      const auto log = create();
      if (!log->set_scenario("child")) _exit(1);
      log->begin(5, 6);
      for (const Choice& choice : choices) log->append(choice);
      std::signal(signal, SIG_DFL);
      kill(getpid(), signal);
    });
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    const LoggedExecution seen = read_file();
    EXPECT_EQ(seen.state, LogState::running) << "a running log that was left behind is a crash";
    EXPECT_EQ(seen.execution, 5u);
    EXPECT_EQ(seen.seed, 6u);
    EXPECT_EQ(seen.scenario, "child");
    EXPECT_EQ(seen.choices, choices);
  }
}

TEST_F(ChoiceLogTest, ALogInMemoryIsReadByTheParentOfTheProcessThatDied) {
  const auto choices = random_choices(4, 1000);
  const auto log = ChoiceLog::in_memory();
  const int status = in_child([&] {
    log->begin(1, 2);
    for (const Choice& choice : choices) log->append(choice);
    kill(getpid(), SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read(log).seed, 2u);
  EXPECT_EQ(read(log).choices, choices);
}

TEST_F(ChoiceLogTest, OverflowSetsAFlagAndKeepsTheFirstChoices) {
  const auto choices = random_choices(5, 10'000);
  for (auto& log : {create(4096), ChoiceLog::in_memory(4096)}) {
    log->begin(0, 0);
    for (const Choice& choice : choices) log->append(choice);
    EXPECT_TRUE(log->overflowed());
    EXPECT_LE(log->bytes(), 4096u);
    EXPECT_GT(log->bytes(), 4096u - 16);
    const LoggedExecution seen = read(log);
    EXPECT_TRUE(seen.overflowed);
    ASSERT_LT(seen.choices.size(), choices.size());
    EXPECT_TRUE(std::equal(seen.choices.begin(), seen.choices.end(), choices.begin()));
    log->begin(1, 0);
    EXPECT_FALSE(log->overflowed());
    EXPECT_FALSE(read(log).overflowed);
  }
}

TEST_F(ChoiceLogTest, GrowsPieceByPieceUpToItsCapacity) {
  const auto log = create(size_t{5} << 19);  // two pieces and a half
  log->begin(0, 0);
  for (uint32_t i = 0; i < (5u << 18); ++i) log->append({i % 3, 3, true, Purpose::test});
  EXPECT_GT(log->bytes(), (size_t{5} << 19) - 16);
  EXPECT_EQ(read_file().choices.size() * 2, log->bytes());
}

TEST_F(ChoiceLogTest, TakesLittleSpaceOnTheDiskUntilItIsUsed) {
  const auto log = create();
  struct stat file;
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_GT(file.st_size, off_t{64} << 20);
  EXPECT_LT(file.st_blocks * 512, off_t{2} << 20);
}

TEST_F(ChoiceLogTest, AScenarioThatIsTooLongIsRefused) {
  const auto log = ChoiceLog::in_memory();
  EXPECT_TRUE(log->set_scenario(std::string(ChoiceLog::kMaxScenarioBytes, 'x')));
  EXPECT_FALSE(log->set_scenario(std::string(ChoiceLog::kMaxScenarioBytes + 1, 'y')));
  EXPECT_EQ(read(log).scenario, std::string(ChoiceLog::kMaxScenarioBytes, 'x'));
}

TEST_F(ChoiceLogTest, CreateSaysWhyItCannot) {
  std::string error;
  EXPECT_EQ(ChoiceLog::create(directory_ + "/no/such", 4096, &error), nullptr);
  EXPECT_NE(error.find("/no/such: No such file or directory"), std::string::npos) << error;
  EXPECT_EQ(ChoiceLog::create(directory_, 4096, &error), nullptr);
  EXPECT_NE(error.find(directory_), std::string::npos) << error;
}

TEST_F(ChoiceLogTest, ANewLogInTheSamePlaceLeavesReadersOfTheOldOneAlone) {
  const auto old_log = create();
  old_log->begin(1, 1);
  const auto new_log = create();
  new_log->begin(2, 2);
  old_log->append({1, 2, true, Purpose::test});
  EXPECT_EQ(read(old_log).choices.size(), 1u);
  EXPECT_EQ(read_file().execution, 2u);
}

// What a reader makes of arbitrary bytes: an error, or choices that could be real.
void expect_clean(const std::string& bytes) {
  std::string error;
  const auto log = parse_choice_log(bytes, &error);
  if (!log) {
    EXPECT_FALSE(error.empty());
    EXPECT_EQ(error.find('\n'), std::string::npos);
    return;
  }
  for (const Choice& choice : log->choices) {
    ASSERT_LT(choice.value, choice.count);
    ASSERT_LE(choice.count, kMaxChoiceCount);
    ASSERT_LT(choice.purpose, Purpose::count_);
  }
}

TEST_F(ChoiceLogTest, AnyBytesAreReadCleanly) {
  {
    const auto log = create(4096);
    ASSERT_TRUE(log->set_scenario("text"));
    log->begin(0, 0);
    for (const Choice& choice : random_choices(6, 500)) log->append(choice);
  }
  std::ifstream file(path_, std::ios::binary);
  const std::string valid((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  expect_clean("");
  expect_clean(std::string(100'000, '\0'));
  Rng rng(7);
  std::string bytes = valid;
  for (int i = 0; i < 5000; ++i) {
    const bool header = rng.below(2) == 0;
    const size_t at = header ? rng.below(56) : valid.size() - 4096 + rng.below(4096);
    bytes[at] = static_cast<char>(rng.next());
    expect_clean(bytes);
    bytes[at] = valid[at];
  }
  for (const size_t size : {size_t{1}, size_t{65535}, size_t{65536}, size_t{65537}}) {
    expect_clean(valid.substr(0, size));
  }
}

TEST_F(ChoiceLogTest, ReadingWhatIsNoLogSaysSo) {
  std::string error;
  EXPECT_FALSE(read_choice_log(directory_ + "/absent", &error));
  EXPECT_NE(error.find("absent: No such file"), std::string::npos) << error;
  EXPECT_FALSE(read_choice_log(directory_, &error));
  EXPECT_NE(error.find("directory"), std::string::npos) << error;
  std::ofstream(path_) << "shootdown-replay 1\n";
  EXPECT_FALSE(read_choice_log(path_, &error));
  EXPECT_NE(error.find("19 bytes are less than a header"), std::string::npos) << error;
  std::ofstream(path_) << std::string(70'000, 'x');
  EXPECT_FALSE(read_choice_log(path_, &error));
  EXPECT_NE(error.find("wrong magic"), std::string::npos) << error;
  {
    const auto log = create(4096);
    log->begin(0, 0);
    for (const Choice& choice : random_choices(8, 500)) log->append(choice);
  }
  std::filesystem::resize_file(path_, 65'536 + 10);
  EXPECT_FALSE(read_choice_log(path_, &error));
  EXPECT_NE(error.find("truncated"), std::string::npos) << error;
}

}  // namespace
}  // namespace sd::engine
