// `shootdown replay`: files that fit, files that do not, and bytes of all kinds.
#include <gtest/gtest.h>

#include "core/engine/rng.h"
#include "torture/test_program.h"

namespace sd::torture {
namespace {

// A failure of the canary, recorded once for all tests.
class Replay : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new ScratchDir;
    run_program(*dir_, {"torture", "scf", "--bug", "canary", "--seed", "3", "--cpus", "2"});
    path_ = only_replay(*dir_);
    text_ = slurp(path_);
  }
  static void TearDownTestSuite() { delete dir_; }
  void SetUp() override { ASSERT_TRUE(text_.starts_with("shootdown-replay 1\n")); }

  // Replays these bytes.
  static ProgramResult replay(const std::string& bytes) {
    spill(dir_->path("file.sdr"), bytes);
    return run_program(*dir_, {"replay", "file.sdr"});
  }
  // The recording with a line replaced.
  static std::string with_line(const std::string& key, const std::string& line) {
    const size_t at = text_.find("\n" + key + ":") + 1;
    std::string out = text_;
    return out.replace(at, out.find('\n', at) - at, line);
  }
  static size_t line_of(const std::string& key) {
    const std::string before = text_.substr(0, text_.find("\n" + key + ":") + 1);
    return static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  }
  static void expect_unusable(const ProgramResult& result, const std::string& why) {
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.one_error_line()) << result.err;
    EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
  }

  static ScratchDir* dir_;
  static std::string path_;
  static std::string text_;
};
ScratchDir* Replay::dir_ = nullptr;
std::string Replay::path_;
std::string Replay::text_;

TEST_F(Replay, FailsAgainAsRecorded) {
  const ProgramResult result = run_program(*dir_, {"replay", path_});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.last_line().starts_with("replay:--- FAILURE S-I")) << result.last_line();
  EXPECT_NE(result.last_line().find(": as recorded, trace hash 0x"), std::string::npos)
      << result.last_line();
  EXPECT_EQ(result.last_line().find("instead of"), std::string::npos) << result.last_line();
}

TEST_F(Replay, InOneProcessIsTheSame) {
  const ProgramResult result = run_program(*dir_, {"replay", path_, "--no-fork"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, run_program(*dir_, {"replay", path_}).out.replace(0, 0, ""));
}

TEST_F(Replay, QuietIsTheLastLine) {
  const ProgramResult result = run_program(*dir_, {"replay", path_, "--quiet"});
  EXPECT_EQ(result.out, result.last_line() + "\n");
}

TEST_F(Replay, ShowsAsManyEventsAsAskedFor) {
  const auto rows = [](const std::string& out) {
    const size_t at = out.find("Last ");
    return at == std::string::npos ? std::string() : out.substr(at, out.find(" of ", at) - at);
  };
  EXPECT_EQ(rows(run_program(*dir_, {"replay", path_, "--events", "7"}).out), "Last 7");
  EXPECT_EQ(rows(run_program(*dir_, {"replay", path_, "--events", "0"}).out), "");
}

TEST_F(Replay, WithoutTheBugDoesNotFit) {
  const ProgramResult result = replay(with_line("bugs", "bugs: none"));
  // Whether it leaves the recording or just no longer fails is the bug's affair; it is no failure.
  EXPECT_TRUE(result.code == 4 || result.code == 0) << result.code << result.out << result.err;
  if (result.code == 4) EXPECT_TRUE(result.one_error_line()) << result.err;
}

TEST_F(Replay, OfAnotherExecutionSaysWhereItDiverges) {
  const ProgramResult result = replay(with_line("cpus", "cpus: 3"));
  EXPECT_EQ(result.code, 4) << result.out;
  EXPECT_TRUE(result.one_error_line()) << result.err;
  EXPECT_TRUE(result.err.starts_with("shootdown: file.sdr does not fit this build: choice "))
      << result.err;
  EXPECT_NE(result.err.find(", at step "), std::string::npos) << result.err;
}

TEST_F(Replay, AFileThatIsNotThereIsUnusable) {
  expect_unusable(run_program(*dir_, {"replay", "none.sdr"}),
                  "none.sdr: cannot read: No such file");
  expect_unusable(run_program(*dir_, {"replay", "."}), ".: cannot read: Is a directory");
  expect_unusable(run_program(*dir_, {"replay"}), "FILE is missing");
}

TEST_F(Replay, AnEmptyFileIsUnusable) {
  expect_unusable(replay(""), "file.sdr:");
}

TEST_F(Replay, AnotherVersionIsUnusable) {
  expect_unusable(replay("shootdown-replay 2\nend\n"), "file.sdr:1: replay version '2' is too new");
  expect_unusable(replay("shootdown-replay 0\nend\n"), "file.sdr:1: replay version '0' is too old");
}

TEST_F(Replay, EachWrongLineIsNamed) {
  const auto expect_line = [](const std::string& key, const std::string& line,
                              const std::string& why) {
    expect_unusable(replay(with_line(key, line)),
                    "file.sdr:" + std::to_string(line_of(key)) + ": " + why);
  };
  expect_line("cpus", "cpus: 100000", "cpus: '100000' is not a number from 1 to 512");
  expect_line("nthreads", "nthreads: 100000", "nthreads: '100000' is not a number from -1 to 1024");
  expect_line("ops", "ops: 99999999999999999999", "ops: '99999999999999999999' is not a number");
  expect_line("step_bound", "step_bound: 5000000000", "step_bound: '5000000000' is not a number");
  expect_line("smt", "smtt: 2", "'smtt' is not a key of this version");
  expect_line("patches", "patches: P00", "patches: 'P00' is not a patch");
  expect_line("seed", "seed: twelve", "seed: 'twelve' is not a number");
  expect_unusable(replay(with_line("trace_hash", "x: y")), "'x' is not a key of this version");
  std::string without = with_line("cpus", "");
  without.erase(without.find("\n\n"), 1);
  expect_unusable(replay(without), ": a line is missing: cpus");
}

TEST_F(Replay, EveryTruncationIsUnusable) {
  engine::Rng rng(1);
  for (size_t size = 1; size + 1 < text_.size();
       size += 1 + rng.below(static_cast<uint32_t>(text_.size() / 40))) {
    expect_unusable(replay(text_.substr(0, size)), "file.sdr:");
  }
}

TEST_F(Replay, RandomBytesAreUnusable) {
  engine::Rng rng(2);
  for (int i = 0; i < 20; i++) {
    std::string bytes;
    for (uint32_t n = rng.below(3000); n > 0; n--) bytes += static_cast<char>(rng.below(256));
    expect_unusable(replay(bytes), "file.sdr");
    expect_unusable(replay("shootdown-replay 1\n" + bytes), "file.sdr");
  }
}

// Whatever a changed byte makes of the file: one of the documented ends, never a crash of the tool.
TEST_F(Replay, ChangedBytesEndInADocumentedWay) {
  engine::Rng rng(3);
  for (int i = 0; i < 60; i++) {
    std::string bytes = text_;
    for (int n = 0; n < 2; n++) {
      bytes[rng.below(static_cast<uint32_t>(bytes.size()))] =
          static_cast<char>(' ' + rng.below(95));
    }
    const ProgramResult result = replay(bytes);
    EXPECT_TRUE(result.code == 0 || result.code == 1 || result.code == 2 || result.code == 4)
        << result.code << ": " << result.err;
    if (result.code == 2 || result.code == 4) EXPECT_TRUE(result.one_error_line()) << result.err;
  }
}

}  // namespace
}  // namespace sd::torture
