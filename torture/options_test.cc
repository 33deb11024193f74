#include "torture/options.h"

#include <gtest/gtest.h>

#include "core/bugs/bugs.h"
#include "core/kernel/param.h"
#include "core/series/series.h"
#include "torture/cli.h"
#include "torture/fields.h"
#include "torture/parse.h"

namespace sd::torture {
namespace {

struct Parsed {
  int code = -1;
  std::string error;
  TortureOptions options;
};

// What the words after "torture" come to.
Parsed parsed(const std::string& words) {
  Parsed result;
  Command torture;
  torture.name = "torture";
  torture.options = torture_option_table(&result.options);
  torture.kernel_parameter = kernel_parameter_option;
  torture.run = [&result] {
    result.options.finish();
    return exit_clean;
  };
  Command program;
  program.name = "shootdown";
  program.commands = {torture};
  testing::internal::CaptureStderr();
  result.code = run_command_line(program, "", split("torture " + words, ' '));
  result.error = testing::internal::GetCapturedStderr();
  return result;
}

int64_t param(const Parsed& result, kernel::Param which) {
  return result.options.scenario.machine.params[static_cast<size_t>(which)];
}

TEST(Options, DefaultsAreThoseOfTheHelp) {
  const Parsed result = parsed("");
  ASSERT_EQ(result.code, exit_clean) << result.error;
  const TortureOptions& o = result.options;
  EXPECT_EQ(o.scenario.machine.cpus, 4u);
  EXPECT_EQ(o.scenario.machine.patches, *series::find_set("merged"));
  EXPECT_TRUE(o.scenario.machine.preempt_full);
  EXPECT_EQ(o.scenario.machine.alloc_fail, 64u);
  EXPECT_EQ(o.scenario.machine.hotplug_fail, 16u);
  EXPECT_EQ(o.scenario.strategy, "mix");
  EXPECT_EQ(o.duration, std::chrono::seconds(30));
  EXPECT_FALSE(o.executions.has_value());
  EXPECT_GE(o.jobs, 1u);
  EXPECT_EQ(o.out, "shootdown-out");
  EXPECT_EQ(o.stats, std::chrono::seconds(15));
  EXPECT_EQ(param(result, kernel::Param::csd_lock_timeout), 5000);
}

TEST(Options, EveryFormOfAParameterSetsIt) {
  for (const char* words :
       {"--weight_single_wait 4", "--weight-single-wait 4", "--weight_single_wait=4",
        "scftorture.weight_single_wait=4", "scftorture.weight-single-wait=0x4"}) {
    const Parsed result = parsed(words);
    ASSERT_EQ(result.code, exit_clean) << words << ": " << result.error;
    EXPECT_EQ(result.options.scenario.scf.weights[static_cast<size_t>(scf::Prim::single_wait)], 4)
        << words;
  }
  const Parsed result = parsed(
      "torture.random_shuffle=3 smp.csd_lock_timeout=50 csdlock_debug=1 "
      "scftorture.use_cpus_read_lock "
      "scftorture.nthreads=-1 scftorture.stat_interval=7");
  ASSERT_EQ(result.code, exit_clean) << result.error;
  EXPECT_EQ(result.options.scenario.scf.random_shuffle, 3);
  EXPECT_EQ(param(result, kernel::Param::csd_lock_timeout), 50);
  EXPECT_EQ(param(result, kernel::Param::csdlock_debug), 1);
  EXPECT_TRUE(result.options.scenario.scf.use_cpus_read_lock);
  EXPECT_EQ(result.options.scenario.scf.nthreads, -1);
  EXPECT_EQ(result.options.stats, std::chrono::seconds(7));
}

TEST(Options, EveryFieldIsAnOptionWithinItsLimits) {
  for (const Field& field : fields()) {
    for (const int64_t value : {field.min, field.max}) {
      const Parsed good = parsed("--" + field.name + " " + std::to_string(value));
      EXPECT_EQ(good.error.find("is not"), std::string::npos) << good.error;
      if (good.code == exit_clean) EXPECT_EQ(field.get(good.options.scenario), value) << field.name;
    }
    if (field.boolean) continue;
    for (const int64_t value : {field.min - 1, field.max + 1}) {
      const Parsed bad = parsed("--" + field.name + " " + std::to_string(value));
      EXPECT_EQ(bad.code, exit_usage) << field.name;
      EXPECT_EQ(bad.error, "shootdown: --" + field.name + ": '" + std::to_string(value) +
                               "' is not a number from " + std::to_string(field.min) + " to " +
                               std::to_string(field.max) + "\n");
    }
  }
}

TEST(Options, PatchesAndBugsAddUp) {
  const Parsed result = parsed("--series base --patch +P04 --patch +p05");
  ASSERT_EQ(result.code, exit_clean) << result.error;
  EXPECT_EQ(result.options.scenario.machine.patches,
            series::bit(series::Patch::p04) | series::bit(series::Patch::p05));
  // A bug brings along what it is made of.
  const Parsed bug = parsed("--bug H10");
  ASSERT_EQ(bug.code, exit_clean) << bug.error;
  const bugs::BugInfo& info = *bugs::find("H10");
  EXPECT_TRUE((bug.options.scenario.machine.patches & info.forced_off).none());
}

struct Mistake {
  const char* words;
  const char* error;
};

class OptionMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(OptionMistakes, IsOneLineThatNamesItAndExitTwo) {
  const Parsed result = parsed(GetParam().words);
  EXPECT_EQ(result.code, exit_usage);
  EXPECT_EQ(result.error, std::string("shootdown: ") + GetParam().error + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, OptionMistakes,
    testing::Values(
        Mistake{"--cpus 0", "--cpus: '0' is not a number from 1 to 512"},
        Mistake{"--cpus 513", "--cpus: '513' is not a number from 1 to 512"},
        Mistake{"--cpus four", "--cpus: 'four' is not a number from 1 to 512"},
        Mistake{"--cpus=", "--cpus: a value is missing"},
        Mistake{"--cpus", "--cpus: a value is missing"},
        Mistake{"--cpus 2 --cpus 3", "--cpus: given twice, as '2' and as '3'"},
        Mistake{"--cpu 2",
                "unknown option '--cpu'; did you mean --cpus?; see shootdown torture --help"},
        Mistake{"--frobnicate", "unknown option '--frobnicate'; see shootdown torture --help"},
        Mistake{"hello", "unexpected argument 'hello'; see shootdown torture --help"},
        Mistake{"--series mergd",
                "--series: 'mergd' is not a named set of patches: base, base-6.17, posted, merged"},
        Mistake{"--patch P04",
                "--patch: 'P04' does not start with + (switch on) or - (switch off)"},
        Mistake{"--patch +P99", "--patch: 'P99' is not a patch; shootdown series list shows them"},
        Mistake{"--patch +P04 --patch -P04", "--patch +P04 and --patch -P04 exclude each other"},
        Mistake{"--bug H99",
                "--bug: 'H99' is not a bug of the bank; shootdown bugs list shows them"},
        Mistake{"--bug H10 --patch +P04",
                "--bug H10 and --patch +P04 exclude each other: the bug needs it off"},
        Mistake{"--preempt lazy", "--preempt: 'lazy' is not a preemption model: full, none"},
        Mistake{"--memory tso", "--memory: 'tso' is not available in this version, only sc"},
        Mistake{"--memory lkmm", "--memory: 'lkmm' is not available in this version, only sc"},
        Mistake{"--memory weak", "--memory: 'weak' is not a memory model of this version: sc"},
        Mistake{"--strategy best",
                "--strategy: 'best' is not a strategy: random, calm, pct:DEPTH (DEPTH 1 to 64), "
                "pos, swarm, mix"},
        Mistake{"--strategy pct:0",
                "--strategy: 'pct:0' is not a strategy: random, calm, pct:DEPTH (DEPTH 1 to 64), "
                "pos, swarm, mix"},
        Mistake{"--seed abc", "--seed: 'abc' is not a number from 0 to 18446744073709551615"},
        Mistake{"--duration 30",
                "--duration: '30' is not a duration: a number and one of ms, s, m, h, such as 30s"},
        Mistake{"--duration 0s",
                "--duration: '0s' is not a duration: a number and one of ms, s, m, h, such as 30s"},
        Mistake{"--executions 0",
                "--executions: '0' is not a number from 1 to 4611686018427387904"},
        Mistake{"--jobs 0", "--jobs: '0' is not a number from 1 to 1024"},
        Mistake{"--stats 15",
                "--stats: '15' is not a duration: a number and one of ms, s, m, h, such as 30s"},
        Mistake{"--stats 5s --stat_interval 7", "--stats and --stat_interval exclude each other"},
        Mistake{"--use_cpus_read_lock maybe", "--use_cpus_read_lock: 'maybe' is not 0 or 1"},
        Mistake{"torture.ftrace_dump_at_shutdown=1",
                "--ftrace_dump_at_shutdown: '1' is not 0: executions end too often to print the "
                "trace of each; see shootdown replay --events"},
        Mistake{"scftorture.nthread=3",
                "unknown parameter 'scftorture.nthread'; did you mean scftorture.nthreads?"},
        Mistake{"scftorture.nthreads=x", "--nthreads: 'x' is not a number from -1 to 1024"},
        Mistake{"rcutorture.nreaders=3", "unknown parameter 'rcutorture.nreaders'"},
        Mistake{"--cpus 2 --boot_cpus 3", "boot_cpus is 3, but there are only 2 cpus"},
        Mistake{"--cpus 2 --nodes 3", "nodes is 3, but there are only 2 cpus"},
        Mistake{"--ops 0", "ops is 0, which means until shutdown_secs, but shutdown_secs is 0 too"},
        Mistake{"--ops 0 --shutdown_secs 1 --strategy calm",
                "ops is 0, which means until shutdown_secs, but strategy calm lets no time pass "
                "while there "
                "is work"},
        Mistake{"--cpus 512 --ops 100000",
                "ops 100000 on 512 cpus is too much for one execution; make it less and run more "
                "executions"},
        Mistake{"--out=", "--out: a value is missing"}));

TEST(Options, AllWeightsZeroIsTheKernelsOwnMessage) {
  std::string words;
  for (unsigned i = 0; i < scf::kPrims; i++) {
    words += std::string("--") + scf::prim_weight_name(static_cast<scf::Prim>(i)) + " 0 ";
  }
  const Parsed result = parsed(words);
  EXPECT_EQ(result.code, exit_usage);
  EXPECT_NE(result.error.find("all zero weights makes no sense"), std::string::npos)
      << result.error;
}

}  // namespace
}  // namespace sd::torture
