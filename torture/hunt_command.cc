#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/bugs/bugs.h"
#include "torture/bug_needs.h"
#include "torture/build_info.h"
#include "torture/commands.h"
#include "torture/options.h"
#include "torture/parse.h"
#include "torture/summary.h"
#include "torture/supervisor.h"
#include "torture/values.h"

namespace sd::torture {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

struct HuntOptions {
  std::vector<std::string> ids;  // none: all that the torture can show
  unsigned seeds = 5;
  uint64_t first_seed = 1;
  milliseconds budget{60'000};
  unsigned jobs = 0;
  unsigned cpus = 4;
  std::string strategy;
  std::string out = "shootdown-out";
  std::string json;
};

// The search for one bug from one seed.
struct Search {
  uint64_t seed = 0;
  bool found = false;  // by an oracle that the bank names
  bool interrupted = false;
  std::string id;  // of the failure; also of one that the bank does not name; "" for none
  uint64_t executions = 0;
  double cpu_seconds = 0;
  std::string replay;
};

struct Hunt {
  const bugs::BugInfo* bug = nullptr;
  std::vector<Search> searches;

  size_t found() const {
    return static_cast<size_t>(
        std::count_if(searches.begin(), searches.end(), [](const Search& s) { return s.found; }));
  }
};

TortureOptions options_for(const bugs::BugInfo& bug, const HuntOptions& hunt) {
  TortureOptions options;
  options.scenario.machine.cpus = hunt.cpus;
  meet_needs(options.scenario, bug);
  if (!hunt.strategy.empty()) set_strategy(options.scenario, hunt.strategy);
  options.bugs = {bug.id};
  options.jobs = hunt.jobs;
  options.cpu_budget = hunt.budget;
  // Nothing but the budget ends it, as time on a loaded machine says little.
  options.duration = std::chrono::hours(24 * 365);
  options.quiet = true;
  return options;
}

Search search(const bugs::BugInfo& bug, uint64_t seed, const HuntOptions& hunt,
              const std::string& program) {
  TortureOptions options = options_for(bug, hunt);
  options.seed = seed;
  options.out_given = fmt::format("{}/{}-{}", hunt.out, bug.id, seed);
  options.finish();
  SilentListener silent;
  const RunResult result = supervise(options, program, &silent);
  if (!result.output_error.empty()) environment_error(result.output_error);

  Search out;
  out.seed = seed;
  out.interrupted = result.interrupted;
  out.executions = result.totals.executions;
  out.cpu_seconds = static_cast<double>(result.cpu_time.count()) / 1000;
  if (result.groups.empty()) return out;
  const Group& first = result.groups.front();
  out.id = first.finding.failure.id;
  out.executions = first.finding.execution + 1;
  out.replay = first.files.replay;
  out.found = bugs::finds(bug, out.id);
  return out;
}

// Of one that was not found there is none: it counts as more than all others.
template <typename Value>
std::optional<double> median(const std::vector<Search>& searches, const Value& value) {
  std::vector<double> values;
  for (const Search& s : searches) {
    if (s.found) values.push_back(value(s));
  }
  std::sort(values.begin(), values.end());
  const size_t middle = (searches.size() - 1) / 2;  // the lower of two
  return middle < values.size() ? std::optional(values[middle]) : std::nullopt;
}

std::optional<double> median_executions(const Hunt& hunt) {
  return median(hunt.searches, [](const Search& s) { return static_cast<double>(s.executions); });
}

std::optional<double> median_cpu_seconds(const Hunt& hunt) {
  return median(hunt.searches, [](const Search& s) { return s.cpu_seconds; });
}

// "S-I4 3, hang 2"
std::string seen_as(const Hunt& hunt) {
  std::vector<std::pair<std::string, unsigned>> counts;
  for (const Search& s : hunt.searches) {
    if (s.id.empty()) continue;
    const std::string name = s.found ? s.id : s.id + " (not in the bank)";
    const auto at =
        std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == name; });
    if (at == counts.end()) {
      counts.emplace_back(name, 1);
    } else {
      at->second++;
    }
  }
  std::string out;
  for (const auto& [name, count] : counts)
    out += (out.empty() ? "" : ", ") + fmt::format("{} {}", name, count);
  return out.empty() ? "-" : out;
}

void print_titles() {
  fmt::print("{:<8} {:>7} {:>12} {:>10}  {}\n", "bug", "found", "executions", "CPU s", "seen as");
}

void print_row(const Hunt& hunt) {
  const auto executions = median_executions(hunt);
  const auto seconds = median_cpu_seconds(hunt);
  fmt::print("{:<8} {:>7} {:>12} {:>10}  {}\n", hunt.bug->id,
             fmt::format("{}/{}", hunt.found(), hunt.searches.size()),
             executions ? fmt::format("{:.0f}", *executions) : "-",
             seconds ? fmt::format("{:.2f}", *seconds) : "-", seen_as(hunt));
  std::fflush(stdout);
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json hunt_json(const Hunt& hunt) {
  Json searches = Json::array();
  Json replays = Json::array();
  for (const Search& s : hunt.searches) {
    searches.push_back({{"seed", fmt::format("{:#x}", s.seed)},
                        {"found", s.found},
                        {"oracle", s.id},
                        {"executions", s.executions},
                        {"cpu_seconds", s.cpu_seconds}});
    if (!s.replay.empty()) replays.push_back(s.replay);
  }
  return {{"id", hunt.bug->id},
          {"found", hunt.found()},
          {"of", hunt.searches.size()},
          {"median_executions", or_null(median_executions(hunt))},
          {"median_cpu_seconds", or_null(median_cpu_seconds(hunt))},
          {"oracle", seen_as(hunt)},
          {"replays", replays},
          {"searches", searches}};
}

std::vector<const bugs::BugInfo*> wanted(const HuntOptions& options) {
  std::vector<const bugs::BugInfo*> out;
  for (const auto& bug : bugs::all()) {
    const bool named =
        std::find(options.ids.begin(), options.ids.end(), bug.id) != options.ids.end();
    const bool shows = bug.needs.memory == bugs::Memory::sc && !bug.expected.empty();
    if (named || (options.ids.empty() && shows)) out.push_back(&bug);
  }
  return out;
}

int run_hunt(HuntOptions options, const std::string& program) {
  if (!options.json.empty()) check_json_path(options.json);
  std::vector<Hunt> hunts;
  print_titles();
  bool interrupted = false;
  for (const bugs::BugInfo* bug : wanted(options)) {
    if (interrupted) break;
    Hunt hunt{bug, {}};
    for (unsigned i = 0; i < options.seeds && !interrupted; i++) {
      hunt.searches.push_back(search(*bug, options.first_seed + i, options, program));
      interrupted = hunt.searches.back().interrupted;
    }
    print_row(hunt);
    hunts.push_back(std::move(hunt));
  }
  size_t complete = 0;
  for (const Hunt& hunt : hunts) complete += hunt.found() == options.seeds ? 1 : 0;
  Json bugs = Json::array();
  for (const Hunt& hunt : hunts) bugs.push_back(hunt_json(hunt));
  if (!options.json.empty()) {
    write_json(options.json,
               Json{{"torture", "scf"},
                    {"seeds", options.seeds},
                    {"budget_seconds", static_cast<double>(options.budget.count()) / 1000},
                    {"strategy", options.strategy.empty() ? "mix" : options.strategy},
                    {"interrupted", interrupted},
                    {"build", build_info()},
                    {"bugs", bugs}}
                       .dump(2) +
                   "\n");
  }
  fmt::print("hunt:--- {}: {} of {} bugs found with every seed{}\n",
             complete == hunts.size() && !interrupted ? "SUCCESS" : "FAILURE", complete,
             hunts.size(), interrupted ? ", interrupted" : "");
  return complete == hunts.size() && !interrupted ? exit_clean : exit_failure;
}

}  // namespace

Command hunt_command(const std::string& program) {
  const auto options = std::make_shared<HuntOptions>();
  HuntOptions* o = options.get();
  Command command;
  command.name = "hunt";
  command.summary =
      "Switch bugs on one after the other and search for each: exit 0 if every search finds its "
      "bug, else 1";
  command.example = "shootdown bugs hunt H11 M09 --seeds 2 --budget 20s";
  const auto add = [&command](const char* name, const char* value, const char* help,
                              std::function<void(const std::string&)> set) {
    command.options.push_back({name, value, help, "", false, false, std::move(set)});
  };
  add("ID", "ID", "Which bugs (default: all that show under sequential consistency)",
      [o](const std::string& text) {
        const bugs::BugInfo& bug = find_bug(text);
        if (bug.needs.memory != bugs::Memory::sc) {
          usage_error(std::string(bug.id) + " needs a memory model that is not available");
        }
        o->ids.emplace_back(bug.id);
      });
  command.options.back().repeatable = true;
  add("--seeds", "N", "Searches per bug (default: 5)",
      [o](const std::string& text) { o->seeds = static_cast<unsigned>(number_of(text, 1, 1000)); });
  add("--seed", "S", "Of the first search; the next ones follow it (default: 1)",
      [o](const std::string& text) { o->first_seed = number_of(text, 0, uint64_t{1} << 62); });
  add("--budget", "TIME", "CPU time of a search (default: 60s)",
      [o](const std::string& text) { o->budget = duration_of(text); });
  add("--torture", "KIND", "By which torture: scf", [](const std::string& text) {
    if (text != "scf") usage_error(quote(text) + " is not a kind of torture of this version: scf");
  });
  add("--strategy", "NAME", "As of torture (default: mix)", [o](const std::string& text) {
    Scenario scratch;
    set_strategy(scratch, text);
    o->strategy = text;
  });
  add("--cpus", "N", "Virtual CPUs, more where a bug needs more (default: 4)",
      [o](const std::string& text) {
        o->cpus = static_cast<unsigned>(number_of(text, 1, machine::kMaxCpus));
      });
  add("--jobs", "N", "Worker processes (default: all cores)", [o](const std::string& text) {
    o->jobs = static_cast<unsigned>(number_of(text, 1, kMaxJobs));
  });
  add("--out", "DIR", "Where the findings are written, as DIR/ID-SEED (default: shootdown-out)",
      [o](const std::string& text) { o->out = path_of(text); });
  add("--json", "FILE", "Write the table and every search",
      [o](const std::string& text) { o->json = path_of(text); });
  command.run = [options, program] { return run_hunt(*options, program); };
  return command;
}

}  // namespace sd::torture
