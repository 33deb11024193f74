// `shootdown torture` as a user meets it: the built program, from its command line to its files.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "torture/test_program.h"

namespace sd::torture {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words torture(Words more) {
  more.insert(more.begin(), {"torture", "scf"});
  return more;
}

TEST(Torture, OfTheMergedStackIsClean) {
  const ScratchDir dir;
  const ProgramResult result = run_program(dir, torture({"--executions", "200", "--seed", "0x7b"}));
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(result.err, "");
  const std::string first = result.out.substr(0, result.out.find('\n'));
  EXPECT_EQ(first,
            program_path() + " torture scf --cpus 4 --series merged --seed 0x7b --executions 200");
  EXPECT_TRUE(std::regex_match(
      result.last_line(),
      std::regex("scf-torture:--- End of test: SUCCESS: executions=200 ops=[0-9]+ steps=[0-9]+ "
                 "onoff=[0-9]+/[0-9]+ errors=0 seed=0x7b")))
      << result.last_line();
  EXPECT_TRUE(
      std::regex_search(result.out, std::regex("\nscftorture:  scf_invoked_count VER: [0-9]+ ")));
}

TEST(Torture, DrawsASeedAndPrintsIt) {
  const ScratchDir dir;
  const std::regex seed("seed=(0x[0-9a-f]+)$");
  std::smatch one;
  std::smatch two;
  const std::string first = run_program(dir, torture({"--executions", "1"})).last_line();
  const std::string second = run_program(dir, torture({"--executions", "1"})).last_line();
  ASSERT_TRUE(std::regex_search(first, one, seed));
  ASSERT_TRUE(std::regex_search(second, two, seed));
  EXPECT_NE(one[1], two[1]);
}

TEST(Torture, StopsWhenTheTimeIsOver) {
  const ScratchDir dir;
  const ProgramResult result = run_program(dir, torture({"--duration", "300ms", "--quiet"}));
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(result.out, result.last_line() + "\n");
  EXPECT_EQ(result.out.find("executions=0 "), std::string::npos);
}

TEST(Torture, FindsTheCanaryAndSaysHowToReplayIt) {
  const ScratchDir dir;
  const ProgramResult result =
      run_program(dir, torture({"--bug", "canary", "--executions", "1000"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.last_line().find("FAILURE"), std::string::npos);
  const std::string replay = only_replay(dir);
  ASSERT_NE(replay, "") << result.out;
  const std::string relative = replay.substr(dir.path().size() + 1);
  EXPECT_NE(result.out.find(program_path() + " replay " + relative + "\n"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("gdb "), std::string::npos);
  const std::string report = slurp(replay.substr(0, replay.rfind('/')) + "/report.txt");
  EXPECT_NE(result.out.find(report), std::string::npos)
      << "the report on the console and in the file differ";
  EXPECT_FALSE(fs::exists(dir.path("shootdown-out/workers")));
}

TEST(Torture, FailureReplaysAHundredOfAHundredTimes) {
  const ScratchDir dir;
  ASSERT_EQ(
      run_program(dir, torture({"--bug", "H11", "--executions", "20000", "--seed", "9"})).code, 1);
  const std::string replay = only_replay(dir);
  const ProgramResult again = run_program(dir, {"replay", replay, "--times", "100"});
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.last_line().find(": as recorded, trace hash 0x"), std::string::npos)
      << again.last_line();
  EXPECT_NE(again.last_line().find("100 times the same"), std::string::npos) << again.last_line();
}

TEST(Torture, RunsTheSameExecutionsWhateverTheNumberOfJobs) {
  const ScratchDir dir;
  std::string verdict;
  for (const char* jobs : {"1", "3"}) {
    const std::string now =
        run_program(dir, torture({"--executions", "150", "--seed", "5", "--jobs", jobs}))
            .last_line();
    if (!verdict.empty()) EXPECT_EQ(now, verdict);
    verdict = now;
  }
}

TEST(Torture, ReportsTheFirstFailureWhateverTheNumberOfJobs) {
  const ScratchDir dir;
  for (const char* jobs : {"1", "4"}) {
    const std::string out = std::string("out") + jobs;
    run_program(dir, torture({"--bug", "M16", "--seed", "5", "--executions", "1000", "--jobs", jobs,
                              "--out", out}));
  }
  const std::string one = slurp(only_replay(dir, "out1"));
  EXPECT_NE(one, "");
  EXPECT_EQ(one, slurp(only_replay(dir, "out4")));
}

TEST(Torture, KeepsGoingAndCountsBySignature) {
  const ScratchDir dir;
  Json before;
  for (const char* jobs : {"1", "3"}) {
    const ProgramResult result =
        run_program(dir, torture({"--bug", "M16", "--seed", "5", "--executions", "200",
                                  "--keep-going", "--jobs", jobs, "--json", "summary.json"}));
    EXPECT_EQ(result.code, 1);
    const Json summary = Json::parse(slurp(dir.path("summary.json")));
    EXPECT_EQ(summary["executions"], 200);
    uint64_t sum = 0;
    for (const Json& failure : summary["failures"]) {
      sum += failure["count"].get<uint64_t>();
      EXPECT_TRUE(fs::exists(dir.path(failure["replay"])));
    }
    EXPECT_EQ(summary["errors"], sum);
    EXPECT_GT(sum, summary["failures"].size()) << "no failure came twice";
    if (!before.is_null()) EXPECT_EQ(summary["failures"], before);
    before = summary["failures"];
  }
}

TEST(Torture, SummaryHasItsFields) {
  const ScratchDir dir;
  run_program(dir, torture({"--bug", "canary", "--seed", "3", "--json", "summary.json"}));
  const Json summary = Json::parse(slurp(dir.path("summary.json")));
  EXPECT_EQ(summary["kind"], "scf");
  EXPECT_EQ(summary["verdict"], "FAILURE");
  EXPECT_EQ(summary["seed"], "0x3");
  for (const char* key :
       {"executions", "ops", "steps", "seconds", "steps_per_second", "executions_per_second"}) {
    EXPECT_TRUE(summary[key].is_number()) << key;
  }
  ASSERT_EQ(summary["failures"].size(), 1u);
  EXPECT_EQ(summary["failures"][0]["count"], 1);
  EXPECT_TRUE(summary["failures"][0]["signature"].is_string());
  EXPECT_TRUE(fs::exists(dir.path(summary["failures"][0]["replay"])));
  EXPECT_TRUE(summary["onoff"]["online"]["attempts"].is_number());
  EXPECT_EQ(summary["scenario"]["bugs"], "CANARY");
}

TEST(Torture, IsDeterministic) {
  const ScratchDir dir;
  const ProgramResult result =
      run_program(dir, torture({"--executions", "300", "--check-determinism"}));
  EXPECT_EQ(result.code, 0) << result.out;
}

TEST(Torture, TakesKernelParameters) {
  const ScratchDir dir;
  const ProgramResult result =
      run_program(dir, torture({"--executions", "20", "scftorture.weight_many_wait=4",
                                "scftorture.onoff_interval=0", "scftorture.verbose=1"}));
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_NE(result.out.find("--onoff_interval 0 "), std::string::npos);
  EXPECT_NE(result.out.find("scf_sel_dump: 100.000 smp_call_function_many(wait)"),
            std::string::npos);
  EXPECT_NE(result.out.find("scftorture: --- Start of test:  verbose=1 "), std::string::npos);
  EXPECT_NE(result.out.find("scftorture: --- End of test: SUCCESS:  verbose=1 "),
            std::string::npos);
  EXPECT_NE(result.last_line().find(" onoff=0/0 "), std::string::npos);
}

class Interrupted : public testing::TestWithParam<int> {};

TEST_P(Interrupted, EndsWithTheVerdict) {
  const ScratchDir dir;
  Program program(dir, torture({"--duration", "1h", "--stats", "100ms", "--jobs", "2"}));
  wait_for_output(program, " ver: ");
  ::kill(program.pid(), GetParam());
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_NE(result.last_line().find("End of test: SUCCESS: executions="), std::string::npos)
      << result.out;
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupted, testing::Values(SIGINT, SIGTERM, SIGHUP));

class KilledWorker : public testing::TestWithParam<int> {};

TEST_P(KilledWorker, LeavesAReplayableFile) {
  const ScratchDir dir;
  Program program(dir, torture({"--duration", "1h", "--stats", "100ms", "--jobs", "2"}));
  wait_for_output(program, " ver: ");
  const auto workers = program.children();
  ASSERT_EQ(workers.size(), 2u);
  ::kill(workers[1], GetParam());
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, 1);
  // A sanitizer takes a SIGSEGV upon itself.
  EXPECT_TRUE(result.out.find("the process dies") != std::string::npos ||
              result.out.find("a sanitizer stops the process") != std::string::npos)
      << result.out;
  EXPECT_NE(result.last_line().find("FAILURE"), std::string::npos);
  const std::string replay = only_replay(dir);
  ASSERT_NE(replay, "") << result.out;
  // The execution itself is innocent.
  const ProgramResult again = run_program(dir, {"replay", replay});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

INSTANTIATE_TEST_SUITE_P(Signals, KilledWorker, testing::Values(SIGKILL, SIGSEGV));

TEST(Torture, ThatIsKilledTakesItsWorkersAlong) {
  const ScratchDir dir;
  Program program(dir, torture({"--duration", "1h", "--stats", "100ms", "--jobs", "2"}));
  wait_for_output(program, " ver: ");
  const auto workers = program.children();
  ASSERT_EQ(workers.size(), 2u);
  ::kill(program.pid(), SIGKILL);
  program.wait();
  for (const pid_t worker : workers) {
    // Gone, or dead and not yet reaped by whoever inherits it.
    std::string state;
    for (int i = 0; i < 6000; i++, ::usleep(10'000)) {
      const std::string stat = slurp("/proc/" + std::to_string(worker) + "/stat");
      state = stat.empty() ? "gone" : stat.substr(stat.rfind(')') + 2, 1);
      if (state == "gone" || state == "Z") break;
    }
    EXPECT_TRUE(state == "gone" || state == "Z") << state;
  }
}

TEST(Torture, ComesToItsVerdictWhereTheDirectoryCannotBeWritten) {
  const ScratchDir dir;
  spill(dir.path("file"), "");
  const ProgramResult result =
      run_program(dir, torture({"--executions", "5", "--out", "file/out"}));
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(result.one_error_line()) << result.err;
  EXPECT_NE(result.last_line().find("End of test: SUCCESS: executions=5 "), std::string::npos)
      << result.out;
}

TEST(Torture, RefusesASummaryThatCannotBeWritten) {
  const ScratchDir dir;
  const ProgramResult json =
      run_program(dir, torture({"--executions", "5", "--json", "no/such/dir/x.json"}));
  EXPECT_EQ(json.code, 3);
  EXPECT_TRUE(json.one_error_line()) << json.err;
}

TEST(Torture, RefusesADirectoryAsASummary) {
  const ScratchDir dir;
  fs::create_directory(dir.path("summary"));
  const ProgramResult json = run_program(dir, torture({"--executions", "5", "--json", "summary"}));
  EXPECT_EQ(json.code, 3);
  EXPECT_TRUE(json.one_error_line()) << json.err;
  EXPECT_EQ(json.out, "");
}

TEST(Torture, NoticesThatItsOutputIsLost) {
  const ScratchDir dir;
  const ProgramResult result = run_program(dir, torture({"--executions", "5"}), [] {
    ::dup2(::open("/dev/null", O_RDONLY), STDOUT_FILENO);
  });
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(result.one_error_line()) << result.err;
}

// Whoever stops a worker has a debugger; the run ends all the same, and says what is missing.
TEST(Torture, SaysThatAStoppedWorkerIsMissing) {
  const ScratchDir dir;
  Program program(dir, torture({"--duration", "1h", "--stats", "100ms", "--jobs", "2"}));
  wait_for_output(program, " ver: ");
  const auto workers = program.children();
  ASSERT_EQ(workers.size(), 2u);
  ::kill(workers[1], SIGSTOP);
  ::kill(program.pid(), SIGINT);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_TRUE(result.one_error_line()) << result.err;
  EXPECT_NE(result.err.find("shootdown: 1 execution had not ended"), std::string::npos)
      << result.err;
}

TEST(Torture, WarnsOfUnsafeSwitches) {
  const ScratchDir dir;
  const ProgramResult result =
      run_program(dir, torture({"--executions", "1", "--patch", "-P04", "--bug", "polling-no-mb"}));
  EXPECT_NE(result.out.find("\nNote: patch P06 is not safe without P04: expect failures\n"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find(" needs a memory model weaker than sc: "), std::string::npos)
      << result.out;
}

TEST(Torture, PrintsVerdictAndFailureWhereFilesCannotBeWritten) {
  const ScratchDir dir;
  fs::create_directory(dir.path("out"));
  spill(dir.path("out/failures"), "");  // so that there can be no directory of that name
  const ProgramResult result =
      run_program(dir, torture({"--bug", "canary", "--seed", "1", "--out", "out"}));
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(result.one_error_line()) << result.err;
  EXPECT_NE(result.out.find("\nFAILURE S-I"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nshootdown-replay 1\n"), std::string::npos) << result.out;
  EXPECT_NE(result.last_line().find("End of test: FAILURE"), std::string::npos);
}

TEST(Torture, PrintsTheReplayItselfWhereTheDiskIsFull) {
  const ScratchDir dir;
  const std::string full = dir.path("full");
  fs::create_directory(full);
  // Room for the probe, until the run has started.
  if (::mount("tmpfs", full.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "needs to mount a tmpfs: not root, or not allowed in this container";
  }
  Program program(dir, torture({"--cpus", "2", "--duration", "1h", "--out", "full", "--stats",
                                "100ms", "--jobs", "1"}));
  wait_for_output(program, " ver: ");
  spill(full + "/filler", std::string(1 << 20, 'x'));
  for (const pid_t worker : program.children()) ::kill(worker, SIGKILL);
  const ProgramResult result = program.wait();
  EXPECT_EQ(::umount(full.c_str()), 0);
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(result.one_error_line()) << result.err;
  EXPECT_NE(result.out.find("FAILURE SIGKILL"), std::string::npos);
  EXPECT_NE(result.out.find("\nshootdown-replay 1\n"), std::string::npos) << result.out;
  EXPECT_NE(result.last_line().find("End of test: FAILURE"), std::string::npos);
}

#if defined(SD_TSAN)
TEST(Torture, ARaceIsAFailureOfTheExecutionThatHasIt) {
  const ScratchDir dir;
  std::string verdict;
  for (const char* jobs : {"1", "3"}) {
    const std::string now = run_program(dir, torture({"--bug", "H39", "--seed", "2", "--executions",
                                                      "20", "--keep-going", "--jobs", jobs}))
                                .last_line();
    if (!verdict.empty()) EXPECT_EQ(now, verdict);
    verdict = now;
  }
  // A second run of the execution would not be told of the race again.
  const ProgramResult twice =
      run_program(dir, torture({"--bug", "H39", "--seed", "2", "--executions", "20", "--keep-going",
                                "--check-determinism"}));
  EXPECT_EQ(twice.last_line(), verdict);
  const ProgramResult first = run_program(
      dir, torture({"--bug", "H39", "--seed", "2", "--executions", "20", "--out", "one"}));
  EXPECT_EQ(first.code, 1);
  EXPECT_NE(first.out.find("there is a data race"), std::string::npos) << first.out;
  const ProgramResult again = run_program(dir, {"replay", only_replay(dir, "one")});
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.last_line().find(": as recorded, trace hash 0x"), std::string::npos);
}
#endif

TEST(Torture, MemoryStaysFlatLong) {
  const ScratchDir dir;
  Program program(dir, torture({"--duration", "1h", "--stats", "100ms", "--jobs", "1"}));
  const auto resident_pages = [](pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/statm");
    uint64_t size = 0;
    uint64_t resident = 0;
    in >> size >> resident;
    return resident;
  };
  const auto after = [&](size_t lines) {
    for (;;) {
      const std::string out = program.out_so_far();
      size_t count = 0;
      for (size_t at = 0; (at = out.find(" ver: ", at)) != std::string::npos; at++) count++;
      if (count >= lines) return;
      ::usleep(50'000);
    }
  };
  after(20);
  const auto workers = program.children();
  ASSERT_EQ(workers.size(), 1u);
  const uint64_t program_before = resident_pages(program.pid());
  const uint64_t worker_before = resident_pages(workers[0]);
  after(120);
  // The machine's pools may still grow a little; 4 MiB in some ten thousand executions is no leak.
  constexpr uint64_t kSlack = (4 << 20) / 4096;
  EXPECT_LE(resident_pages(program.pid()), program_before + kSlack);
  EXPECT_LE(resident_pages(workers[0]), worker_before + kSlack);
  ::kill(program.pid(), SIGINT);
  program.wait();
}

}  // namespace
}  // namespace sd::torture
