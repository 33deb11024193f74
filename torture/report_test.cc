#include "torture/report.h"

#include <gtest/gtest.h>

#include <cctype>

#include "core/bugs/bugs.h"
#include "core/engine/recorder.h"
#include "core/engine/strategy.h"
#include "torture/runner.h"
#include "torture/signature.h"
#include "torture/test_golden.h"

namespace sd::torture {
namespace {

Report example() {
  Report report;
  report.program = "shootdown";
  Finding& finding = report.finding;
  finding.execution = 208;
  finding.failure.kind = engine::FailureKind::invariant;
  finding.failure.id = "S-I1";
  finding.failure.function = "smp_call_function_single";
  finding.failure.message = "it returned 0, but its function has not run";
  finding.failure.detail = "queued at step 600\nnever taken";
  finding.failure.cpu = 2;
  finding.failure.task = "scftorture_invoker/2";
  finding.failure.step = 713;
  finding.failure.time_ns = 13242;
  finding.signature = "S-I1@smp_call_function_single+H10";
  finding.events = "Last 1 of 688 events:\n  ...\n";
  finding.replay = "shootdown-replay 1\n";
  report.files = {"out/failures/x/replay.sdr", "out/failures/x/report.txt", ""};
  return report;
}

TEST(Report, SaysWhatWhereAndHowToGoOn) {
  expect_golden(example().text(), "report.txt");
}

TEST(Report, ContainsASmallReplayThatCouldNotBeWritten) {
  Report report = example();
  report.files = {};
  EXPECT_NE(report.text().find("Put these lines into a file to replay it:\nshootdown-replay 1\n"),
            std::string::npos);
  EXPECT_EQ(report.text().find("Files:"), std::string::npos);
  report.finding.replay = std::string(1 << 20, 'x');
  EXPECT_NE(report.text().find("(1024 KiB) could not be written"), std::string::npos);
}

TEST(Report, CommandsAreQuotedForTheShell) {
  EXPECT_EQ(shell_word("out/S-I1@f+H10/replay.sdr"), "out/S-I1@f+H10/replay.sdr");
  EXPECT_EQ(shell_word("my dir"), "'my dir'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

// Numbers of steps and times change whenever something below does; the story does not.
std::string masked(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (!digit) {
      out += text[i];
    } else if (!out.ends_with('#')) {
      out += '#';
    }
  }
  return out;
}

TEST(Report, OfTheCanaryFromACalmExecution) {
  Scenario scenario;
  scenario.machine.cpus = 2;
  scenario.machine.bugs = bugs::bit(bugs::Bug::canary);
  scenario.scf.ops = 1;
  scenario.scf.onoff_interval = 0;
  scenario.scf.weights.fill(0);
  scenario.scf.weights[static_cast<size_t>(scf::Prim::single_wait)] = 1;
  check_scenario(scenario);
  const auto calm = engine::make_strategy("calm", nullptr);
  const machine::Outcome outcome = Runner(scenario).run(*calm, 0).outcome;
  ASSERT_TRUE(outcome.failed);
  Report report;
  report.finding.failure = outcome.failure;
  report.finding.signature = signature(outcome.failure, scenario);
  report.finding.events = events_report(outcome, {12, false});
  expect_golden(masked(report.body()), "report_canary.txt");
}

}  // namespace
}  // namespace sd::torture
