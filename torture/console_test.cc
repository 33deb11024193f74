#include "torture/console.h"

#include <gtest/gtest.h>

#include "torture/test_golden.h"

namespace sd::torture {
namespace {

using std::chrono::milliseconds;

TortureOptions example() {
  TortureOptions options;
  options.seed = 0x7b;
  options.duration = milliseconds(30'000);
  options.jobs = 2;
  return options;
}

RunResult clean() {
  RunResult result;
  result.totals.executions = 1220;
  result.totals.steps = 1'991'785;
  result.totals.scf.ops = 17'769;
  result.totals.scf.online_attempts = result.totals.scf.online_successes = 130;
  result.totals.scf.offline_attempts = result.totals.scf.offline_successes = 1652;
  result.elapsed = milliseconds(12'500);
  return result;
}

RunResult failed() {
  RunResult result = clean();
  Group group;
  group.count = 2;
  group.finding.execution = 7;
  group.finding.signature = "S-I1@f";
  group.files.replay = "out/failures/S-I1@f/replay.sdr";
  result.groups.push_back(group);
  group.finding.signature = "hang@g";
  group.count = 1;
  result.groups.push_back(group);
  result.totals.failures = 3;
  return result;
}

TEST(Console, TheVerdictLineIsTheKernels) {
  EXPECT_EQ(verdict_line(example(), clean()),
            "scf-torture:--- End of test: SUCCESS: executions=1220 ops=17769 steps=1991785 "
            "onoff=1782/1782 errors=0 seed=0x7b\n");
  EXPECT_EQ(verdict_line(example(), failed()),
            "scf-torture:--- End of test: FAILURE: executions=1220 ops=17769 steps=1991785 "
            "onoff=1782/1782 errors=3 seed=0x7b\n");
  RunResult hotplug = clean();
  hotplug.totals.scf.offline_attempts++;
  EXPECT_EQ(verdict_line(example(), hotplug),
            "scf-torture:--- End of test: LOCK_HOTPLUG: executions=1220 ops=17769 steps=1991785 "
            "onoff=1782/1783 errors=0 seed=0x7b\n");
}

TEST(Console, TheRunCommandMakesTheSameRun) {
  TortureOptions options = example();
  EXPECT_EQ(run_command(options, "bin/shootdown"),
            "bin/shootdown torture scf --cpus 4 --series merged --seed 0x7b --duration 30s");
  options.duration.reset();
  options.executions = 5;
  options.keep_going = options.check_determinism = true;
  options.scenario.scf.nthreads = 9;
  EXPECT_EQ(run_command(options, "my shootdown"),
            "'my shootdown' torture scf --cpus 4 --series merged --nthreads 9 --seed 0x7b "
            "--executions 5 --keep-going --check-determinism");
}

TEST(Console, TheStatusLineFitsATerminal) {
  const std::string line = status_line(example(), clean().totals, milliseconds(12'500));
  EXPECT_EQ(line,
            "1.2k executions, 17.8k operations, 159.3k steps/s, hotplug 1782/1782, 0 failures, "
            "0:17 left");
}

std::string printed(const TortureOptions& options, const RunResult& result) {
  testing::internal::CaptureStdout();
  Console console(options, "shootdown");
  console.on_start();
  console.on_progress(result.totals, milliseconds(14'999));
  console.on_progress(result.totals, milliseconds(15'000));
  console.on_progress(result.totals, milliseconds(15'100));
  if (!result.groups.empty()) console.on_report("FAILURE S-I1@f: ...\n");
  console.end(result);
  return testing::internal::GetCapturedStdout();
}

TEST(Console, ACleanRunOffTheTerminal) {
  expect_golden(printed(example(), clean()), "console_clean.txt");
}

TEST(Console, AFailedRunOffTheTerminal) {
  expect_golden(printed(example(), failed()), "console_failed.txt");
}

TEST(Console, AVerboseRunHasTheKernelsParameterLines) {
  TortureOptions options = example();
  options.scenario.scf.verbose = 1;
  expect_golden(printed(options, clean()), "console_verbose.txt");
}

TEST(Console, AQuietRunHasFailuresAndTheVerdictOnly) {
  TortureOptions options = example();
  options.quiet = true;
  EXPECT_EQ(printed(options, clean()), verdict_line(options, clean()));
  EXPECT_EQ(printed(options, failed()),
            "\nFAILURE S-I1@f: ...\n\n" + verdict_line(options, failed()));
}

}  // namespace
}  // namespace sd::torture
