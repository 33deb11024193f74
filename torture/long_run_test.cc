// Runs that are stopped, gone on with, split and added up, as a user does it.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "torture/run_state.h"
#include "torture/test_program.h"

namespace sd::torture {
namespace {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

// A bug that is found now and then, so that a run has findings of several signatures.
Words run_of_findings(const Words& more) {
  Words words = {"torture", "scf", "--bug", "M09", "--keep-going", "--seed", "0x11", "--jobs", "2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void wait_for_file(const std::string& path, const std::function<bool(const RunState&)>& enough) {
  for (int i = 0; i < 6000; i++, ::usleep(10'000)) {
    const std::string text = slurp(path);
    if (!text.empty() && enough(parse_state(text, path))) return;
  }
  FAIL() << "nothing in " << path;
}

// What two runs of the same executions must agree about.
Json essence(const std::string& path) {
  Json json = Json::parse(slurp(path));
  Json out;
  for (const char* key : {"executions", "trace_hash", "ops", "steps", "choices", "operations",
                          "handlers", "onoff", "errors", "verdict"})
    out[key] = json.at(key);
  for (const Json& failure : json.at("failures")) {
    out["failures"].push_back({failure.at("signature"), failure.at("count"),
                               failure.at("execution"), failure.at("message")});
  }
  return out;
}

constexpr const char* kExecutions = "600";

std::string whole_run(const ScratchDir& dir) {
  run_program(dir, run_of_findings({"--executions", kExecutions, "--json", "whole.json"}));
  return dir.path("whole.json");
}

TEST(LongRun, ShardsTogetherAreTheWholeRun) {
  const ScratchDir dir;
  const Json whole = essence(whole_run(dir));
  ASSERT_GE(whole.at("failures").size(), 3u);
  Words merge = {"merge", "--json", "merged.json"};
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    run_program(dir, run_of_findings({"--executions", kExecutions, "--shard", shard}));
    merge.push_back(std::string("shootdown-out-") + shard[0] + "-of-3");
  }
  const ProgramResult merged = run_program(dir, merge);
  EXPECT_EQ(merged.code, 1) << merged.err;
  EXPECT_EQ(essence(dir.path("merged.json")), whole);
  for (const Json& failure : Json::parse(slurp(dir.path("merged.json"))).at("failures"))
    EXPECT_TRUE(std::filesystem::exists(dir.path(failure.at("replay").get<std::string>())));
}

// Nothing but the seed decides: not where memory lies (each process has its own layout), how big
// the environment is, what malloc() leaves in its blocks, the language or the number of workers.
TEST(LongRun, AThousandExecutionsAreTheSameEverywhere) {
  const ScratchDir dir;
  std::set<std::string> hashes;
  const auto run = [&](const char* jobs, const std::function<void()>& prepare) {
    const ProgramResult result = run_program(dir,
                                             {"torture", "--executions", "1000", "--seed", "0x5eed",
                                              "--jobs", jobs, "--json", "run.json"},
                                             prepare);
    EXPECT_EQ(result.code, 0) << result.out;
    hashes.insert(Json::parse(slurp(dir.path("run.json"))).at("trace_hash").get<std::string>());
  };
  run("1", [] {});
  run("2", [] {});
  run("1", [] {
    ::setenv("MALLOC_PERTURB_", "85", 1);
    ::setenv("SHOOTDOWN_PADDING", std::string(100'000, 'x').c_str(), 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
  });
  run("3", [] {
    ::clearenv();
    ::setenv("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1024", 1);
  });
  EXPECT_EQ(hashes.size(), 1u);
}

TEST(LongRun, StoppedAgainAndAgainItIsTheSameRun) {
  const ScratchDir dir;
  const Json whole = essence(whole_run(dir));
  const std::string state = dir.path("out/state.json");
  Words words = run_of_findings({"--executions", kExecutions, "--out", "out"});
  bool done = false;
  for (int part = 0; part < 20 && !done; part++) {
    Program program(dir, words);
    wait_for_file(state, [](const RunState&) { return true; });
    ::usleep(30'000);
    ::kill(program.pid(), SIGTERM);
    program.wait();
    const RunState now = parse_state(slurp(state), state);
    done = now.totals.executions == 600;
    words = {"torture", "--resume", "out", "--json", "parts.json", "--jobs", "3"};
  }
  if (!done) run_program(dir, words);
  EXPECT_EQ(essence(dir.path("parts.json")), whole);

  const ProgramResult over = run_program(dir, words);
  EXPECT_EQ(over.code, 2);
  EXPECT_TRUE(over.one_error_line()) << over.err;
  const ProgramResult more =
      run_program(dir, {"torture", "--resume", "out", "--executions", "610", "--quiet"});
  EXPECT_NE(more.out.find(" executions=610 "), std::string::npos) << more.out;
}

TEST(LongRun, WritesItsStateWhenAsked) {
  const ScratchDir dir;
  const std::string state = dir.path("shootdown-out/state.json");
  Program program(dir, {"torture", "--duration", "1h", "--seed", "5", "--jobs", "2"});
  wait_for_file(state, [](const RunState& s) { return s.next == 0; });
  while (parse_state(slurp(state), state).totals.executions < 3) {
    ::kill(program.pid(), SIGUSR1);
    ::usleep(50'000);
  }
  ::kill(program.pid(), SIGKILL);
  program.wait();
  const RunState saved = parse_state(slurp(state), state);
  EXPECT_EQ(saved.totals.executions, saved.next - saved.unfinished.size());
  EXPECT_GT(saved.totals.steps, 0u);

  // What was running is there to be replayed, once the directory is used again.
  const ProgramResult resumed = run_program(dir, {"torture", "--resume", "shootdown-out",
                                                  "--executions", std::to_string(saved.next + 5)});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find(" executions=" + std::to_string(saved.next + 5) + " "),
            std::string::npos);
  const std::string interrupted = dir.path("shootdown-out/interrupted");
  ASSERT_TRUE(std::filesystem::is_directory(interrupted));
  for (const auto& entry : std::filesystem::directory_iterator(interrupted)) {
    const ProgramResult replay = run_program(dir, {"replay", entry.path().string()});
    EXPECT_EQ(replay.code, 0) << replay.out << replay.err;
  }
}

TEST(LongRun, RefusesWhatDoesNotFit) {
  const ScratchDir dir;
  const auto refused = [&](const Words& words) {
    const ProgramResult result = run_program(dir, words);
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_TRUE(result.one_error_line()) << result.err;
  };
  refused({"torture", "--resume", "nothing-there"});
  refused({"torture", "--shard", "1/2", "--executions", "5"});  // no seed
  run_program(dir, {"torture", "--seed", "1", "--executions", "5", "--out", "a"});
  run_program(dir, {"torture", "--seed", "1", "--executions", "5", "--out", "b"});
  refused({"torture", "--resume", "a"});  // it is over
  refused({"torture", "--resume", "a", "--cpus", "8"});
  refused({"torture", "--resume", "a", "--out", "c"});
  refused({"merge", "a", "b"});  // the same executions
  refused({"merge", "a", "nothing-there"});
  refused({"merge"});
  spill(dir.path("a/state.json"), "{}");
  refused({"merge", "a"});
}

}  // namespace
}  // namespace sd::torture
