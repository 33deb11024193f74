// What is left when workers or a whole run are killed, or the environment gives way in the middle.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <set>

#include "torture/run_state.h"
#include "torture/test_program.h"

namespace sd::torture {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Findings of several signatures, now and then.
Words run_of_findings(const Words& more) {
  Words words = {"torture", "scf", "--bug", "M09", "--keep-going", "--jobs", "2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void wait_until(const std::function<bool()>& come) {
  for (int i = 0; i < 1500; i++, ::usleep(10'000)) {
    if (come()) return;
  }
  FAIL() << "it does not come";
}

std::string state_of(pid_t pid) {
  const std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");
  return stat.empty() ? "gone" : stat.substr(stat.rfind(')') + 2, 1);
}

// Each signature that a run has printed.
std::set<std::string> told(const std::string& out) {
  std::set<std::string> signatures;
  const std::string start = "\nFAILURE ";
  for (size_t at = 0; (at = out.find(start, at)) != std::string::npos;) {
    at += start.size();
    signatures.insert(out.substr(at, out.find(':', at) - at));
  }
  return signatures;
}

// A stopped worker keeps a pause from being over, so the other one rests between two executions.
TEST(Survival, AWorkerThatIsKilledBetweenExecutionsCostsNoneOfThem) {
  const ScratchDir dir;
  Program program(dir, {"torture", "--executions", "10000", "--seed", "5", "--jobs", "2",
                        "--keep-going", "--stats", "100ms"});
  wait_for_output(program, " ver: ");
  const auto workers = program.children();
  ASSERT_EQ(workers.size(), 2u);
  ::kill(workers[0], SIGSTOP);
  ::kill(program.pid(), SIGUSR1);
  int rested = 0;
  wait_until([&] {
    rested = state_of(workers[1]) == "S" ? rested + 1 : 0;
    return rested == 3;  // in a row; one that computes never sleeps
  });
  ::kill(workers[1], SIGKILL);
  wait_until([&] { return program.children() != workers; });
  ::kill(workers[0], SIGCONT);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.last_line().find(" FAILURE: executions=10000 "), std::string::npos)
      << result.last_line();
  EXPECT_EQ(told(result.out), std::set<std::string>{"SIGKILL@"});
}

TEST(Survival, WhatIsToldIsInTheStateSoon) {
  const ScratchDir dir;
  const std::string state = dir.path("out/state.json");
  Program program(dir, run_of_findings({"--seed", "0x11", "--duration", "1h", "--out", "out"}));
  wait_for_output(program, "\nFAILURE ");
  // Sooner than the state is written anyway.
  wait_until([&] { return !parse_state(slurp(state), state).groups.empty(); });
  ::kill(program.pid(), SIGKILL);
  program.wait();
}

class KilledRun : public testing::TestWithParam<int> {};

TEST_P(KilledRun, LosesNothingThatWasToldAndLeavesWhatWasRunning) {
  const ScratchDir dir;
  const std::string seed = std::to_string(GetParam());
  Program program(dir, run_of_findings({"--seed", seed, "--duration", "1h", "--out", "out"}));
  wait_for_output(program, "\nFAILURE ");
  ::usleep(static_cast<useconds_t>(GetParam()) * 7919);
  ::kill(program.pid(), SIGKILL);
  const ProgramResult result = program.wait();
  for (const std::string& signature : told(result.out)) {
    const ProgramResult replay =
        run_program(dir, {"replay", "out/failures/" + signature + "/replay.sdr"});
    EXPECT_EQ(replay.code, 1) << signature << ": " << replay.err;
    EXPECT_NE(replay.last_line().find(": as recorded, trace hash "), std::string::npos)
        << replay.last_line();
  }
  const auto replays_as_it_is = [&](const std::string& path) {
    const ProgramResult replay = run_program(dir, {"replay", path});
    EXPECT_TRUE(replay.code == 0 || replay.code == 1) << path << ": " << replay.err;
  };
  unsigned logs = 0;
  for (const auto& entry : fs::directory_iterator(dir.path("out/workers"))) {
    if (entry.path().extension() != ".choices") continue;
    logs++;
    replays_as_it_is(entry.path());
  }
  EXPECT_EQ(logs, 2u);

  const ProgramResult resumed =
      run_program(dir, {"torture", "--resume", "out", "--duration", "1s", "--json", "sum.json"});
  EXPECT_EQ(resumed.code, 1) << resumed.err;
  if (!fs::exists(dir.path("out/interrupted"))) return;
  for (const auto& entry : fs::directory_iterator(dir.path("out/interrupted")))
    replays_as_it_is(entry.path());
}

INSTANTIATE_TEST_SUITE_P(AtSomeMoment, KilledRun, testing::Values(1, 2, 5, 11, 23));

// A limit on the size of files is a full disk to whoever writes. The program's own output is a
// pipe: it has none.
TEST(Survival, ADiskThatIsFullFromSomeMomentOnIsReported) {
  const ScratchDir dir;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Program program(dir,
                  run_of_findings({"--seed", "0x11", "--duration", "1h", "--out", "out", "--json",
                                   "sum.json", "--stats", "100ms"}),
                  [&] {
                    ::dup2(ends[1], STDOUT_FILENO);
                    ::dup2(ends[1], STDERR_FILENO);
                  });
  ::close(ends[1]);
  std::string out;
  bool full = false;
  bool ended = false;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    out.append(buffer, static_cast<size_t>(n));
    if (!full && out.find("\nFAILURE ") != std::string::npos) {
      full = true;
      const rlimit none{64, 64};
      ASSERT_EQ(::prlimit(program.pid(), RLIMIT_FSIZE, &none, nullptr), 0);
    }
    if (!ended && out.find("\nshootdown-replay 1\n") != std::string::npos) {
      ended = true;
      ::kill(program.pid(), SIGTERM);
    }
  }
  ::close(ends[0]);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, 3) << out;
  EXPECT_NE(out.find("\nNote: out/"), std::string::npos) << "it is not told at once";
  const size_t error = out.find("\nshootdown: out/");
  ASSERT_NE(error, std::string::npos) << out;
  EXPECT_NE(out.find("cannot be written: File too large; free some space", error),
            std::string::npos);
  EXPECT_NE(out.rfind("End of test: FAILURE"), std::string::npos);
  // What was written before is whole.
  const std::string state = dir.path("out/state.json");
  EXPECT_NO_THROW(parse_state(slurp(state), state));
}

#if !defined(SD_ASAN)  // whose own checks open pipes, and take it for an error if there are none
TEST(Survival, ASystemThatGivesNoMoreProcessesCostsOneWorker) {
  const ScratchDir dir;
  Program program(dir, {"torture", "--duration", "1h", "--seed", "5", "--jobs", "2", "--keep-going",
                        "--stats", "100ms"});
  wait_for_output(program, " ver: ");
  const auto workers = program.children();
  ASSERT_EQ(workers.size(), 2u);
  const rlimit no_more_files{3, 3};
  ASSERT_EQ(::prlimit(program.pid(), RLIMIT_NOFILE, &no_more_files, nullptr), 0);
  ::kill(workers[1], SIGKILL);
  wait_for_output(program, "\nFAILURE SIGKILL");
  wait_until([&] { return program.children().size() == 1; });
  const size_t so_far = program.out_so_far().size();
  wait_until([&] { return program.out_so_far().find(" ver: ", so_far) != std::string::npos; });
  ::kill(program.pid(), SIGTERM);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(result.one_error_line()) << result.err;
  EXPECT_NE(result.out.find("\nshootdown-replay 1\n"), std::string::npos) << result.out;
  EXPECT_NE(result.last_line().find("End of test: FAILURE"), std::string::npos);
}
#endif

}  // namespace
}  // namespace sd::torture
