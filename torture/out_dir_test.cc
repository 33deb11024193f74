#include "torture/out_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "torture/test_program.h"
#include "torture/user_error.h"

namespace sd::torture {
namespace {

namespace fs = std::filesystem;

Report report_with(const OutDir& dir, const std::string& replay) {
  Report report;
  report.finding.signature = "S-I1@f";
  report.finding.replay = replay;
  report.files = dir.files_for(report.finding);
  return report;
}

TEST(OutDir, WritesReplayAndReportOfAFailure) {
  const ScratchDir scratch;
  OutDir dir(scratch.path("a/b"));
  EXPECT_EQ(dir.save(report_with(dir, "one"), false), "");
  EXPECT_EQ(slurp(scratch.path("a/b/failures/S-I1@f/replay.sdr")), "one");
  EXPECT_NE(slurp(scratch.path("a/b/failures/S-I1@f/report.txt")), "");
}

TEST(OutDir, KeepsWhatEarlierRunsFound) {
  const ScratchDir scratch;
  for (const char* replay : {"one", "two", "three"}) {
    OutDir dir(scratch.path());
    EXPECT_EQ(dir.save(report_with(dir, replay), false), "");
  }
  const std::string failure = scratch.path("failures/S-I1@f/");
  EXPECT_EQ(slurp(failure + "replay-1.sdr"), "one");
  EXPECT_EQ(slurp(failure + "replay-2.sdr"), "two");
  EXPECT_EQ(slurp(failure + "replay.sdr"), "three");
  EXPECT_TRUE(fs::exists(failure + "report-2.txt"));
}

TEST(OutDir, ReplacesWhatTheSameRunFound) {
  const ScratchDir scratch;
  OutDir dir(scratch.path());
  EXPECT_EQ(dir.save(report_with(dir, "one"), false), "");
  EXPECT_EQ(dir.save(report_with(dir, "two"), true), "");
  EXPECT_EQ(slurp(scratch.path("failures/S-I1@f/replay.sdr")), "two");
  EXPECT_FALSE(fs::exists(scratch.path("failures/S-I1@f/replay-1.sdr")));
}

TEST(OutDir, LeavesNothingBehindIfNothingWasFound) {
  const ScratchDir scratch;
  { const OutDir dir(scratch.path("new")); }
  EXPECT_FALSE(fs::exists(scratch.path("new")));
  fs::create_directory(scratch.path("old"));
  { const OutDir dir(scratch.path("old")); }
  EXPECT_TRUE(fs::exists(scratch.path("old"))) << "it was the user's";
}

TEST(OutDir, RemovesLogsOfRunsThatWereKilled) {
  const ScratchDir scratch;
  fs::create_directories(scratch.path("workers"));
  spill(scratch.path("workers/99999999-0.choices"), "x");  // no process has that number
  spill(scratch.path("workers/1-0.choices"), "x");         // this one lives
  const OutDir dir(scratch.path());
  EXPECT_FALSE(fs::exists(scratch.path("workers/99999999-0.choices")));
  EXPECT_TRUE(fs::exists(scratch.path("workers/1-0.choices")));
}

TEST(OutDir, KeepsTheStateOfOneRunAtATime) {
  const ScratchDir scratch;
  const std::string path = scratch.path("out");
  {
    OutDir first(path);
    OutDir second(path);
    EXPECT_EQ(first.save_state("1"), "");
    EXPECT_EQ(second.save_state("2"), "");
  }
  EXPECT_EQ(slurp(path + "/state.json"), "1");
  EXPECT_FALSE(fs::exists(path + "/workers"));
  EXPECT_EQ(OutDir(path).save_state("3"), "");
  EXPECT_EQ(slurp(path + "/state.json"), "3");
}

TEST(OutDir, NamesTheRemedyWhereItCannotWriteAndFallsBackToATemporaryDirectory) {
  const ScratchDir scratch;
  spill(scratch.path("file"), "");
  std::string fallback;
  {
    const OutDir dir(scratch.path("file"));
    const std::string start = scratch.path("file") +
                              " cannot be written: Not a directory; name a directory that can be "
                              "written with --out; until then failures are written to ";
    ASSERT_TRUE(dir.error().starts_with(start)) << dir.error();
    fallback = dir.error().substr(start.size());
    EXPECT_TRUE(dir.choices_path(0).starts_with(fallback + "/"));
    EXPECT_TRUE(fs::is_directory(fallback));
  }
  EXPECT_FALSE(fs::exists(fallback)) << "nothing was written, so nothing is left";
}

}  // namespace
}  // namespace sd::torture
