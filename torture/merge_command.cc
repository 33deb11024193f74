#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "torture/commands.h"
#include "torture/console.h"
#include "torture/out_dir.h"
#include "torture/replay_text.h"
#include "torture/run_state.h"
#include "torture/summary.h"
#include "torture/text.h"

namespace sd::torture {

namespace {

struct MergeOptions {
  std::vector<std::string> dirs;
  std::string json;
};

// Paths in a state are relative to where its run was started, which need not be here.
void point_into(const std::string& dir, std::vector<Group>* groups) {
  for (Group& group : *groups) {
    for (std::string* path :
         {&group.files.replay, &group.files.report, &group.files.standard_error}) {
      if (!path->empty())
        *path = failure_dir(dir, group.finding.signature) + path->substr(path->rfind('/'));
    }
  }
}

// Executions that are in both would count twice.
void check_disjoint(const std::vector<RunState>& states, const std::vector<std::string>& dirs) {
  for (size_t i = 0; i < states.size(); i++) {
    for (size_t j = 0; j < i; j++) {
      const RunState& a = states[j];
      const RunState& b = states[i];
      if (a.seed != b.seed || !a.shard.meets(b.shard)) continue;
      if (scenario_text(a.scenario) != scenario_text(b.scenario)) continue;
      usage_error(
          fmt::format("{} and {} are not to be added up: both have run executions of seed "
                      "{:#x} that are the same (shards {} and {})",
                      dirs[j], dirs[i], a.seed, a.shard.text(), b.shard.text()));
    }
  }
}

int run_merge(const MergeOptions& options) {
  std::vector<RunState> states;
  for (const std::string& dir : options.dirs) {
    states.push_back(load_state(dir));
    point_into(dir, &states.back().groups);
  }
  check_disjoint(states, options.dirs);

  TortureOptions run;
  run.scenario = states.front().scenario;
  run.seed = states.front().seed;
  RunResult result;
  for (const RunState& state : states) {
    result.totals.add(state.totals);
    merge_groups(&result.groups, state.groups);
    result.elapsed += state.elapsed;
  }
  finish_groups(&result.groups, &result.totals);
  if (!options.json.empty()) write_json(options.json, summary_json(run, result));
  std::fputs(fmt::format("{}, {}\n{}", counted(states.size(), "run"),
                         counted(result.totals.executions, "execution"), findings_list(result))
                 .c_str(),
             stdout);
  std::fputs(verdict_line(run, result).c_str(), stdout);
  return run_verdict(result) == scf::Verdict::success ? exit_clean : exit_failure;
}

}  // namespace

Command merge_command() {
  const auto options = std::make_shared<MergeOptions>();
  Command command;
  command.name = "merge";
  command.summary = "Add up runs: shards, machines, or whatever has written to these directories";
  command.example =
      "shootdown torture --seed 1 --executions 40 --shard 1/2 --out m1; "
      "shootdown torture --seed 1 --executions 40 --shard 2/2 --out m2; "
      "shootdown merge m1 m2";
  command.options.push_back(
      {"DIR", "DIR", "The --out directories of the runs", "", true, true,
       [o = options.get()](const std::string& text) { o->dirs.push_back(text); }});
  command.options.push_back({"--json", "FILE", "Write the summary of all", "", false, false,
                             [o = options.get()](const std::string& text) { o->json = text; }});
  command.run = [options] { return run_merge(*options); };
  return command;
}

}  // namespace sd::torture
