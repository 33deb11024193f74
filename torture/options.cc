#include "torture/options.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>

#include "core/bugs/bugs.h"
#include "core/series/series.h"
#include "torture/fields.h"
#include "torture/parse.h"
#include "torture/values.h"

namespace sd::torture {

namespace {

constexpr std::chrono::milliseconds kDefaultDuration{30'000};

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

// What is run.
void add_stack_options(std::vector<Option>& table, TortureOptions* o) {
  const char* group = "The stack under test";
  const auto add = [&](const char* name, const char* value, const char* help, bool repeatable,
                       std::function<void(const std::string&)> set) {
    table.push_back({name, value, help, group, repeatable, false, std::move(set)});
  };
  add("--series", "NAME", "base, base-6.17, posted or merged (default)", false,
      [o](const std::string& text) { set_series(o->scenario, text); });
  add("--patch", "+P|-P", "Switch a patch on or off, beyond the series; repeatable", true,
      [o](const std::string& text) {
        Scenario scratch;
        set_patch(scratch, text);
        o->patches.push_back(text);
      });
  add("--bug", "ID", "Switch a bug of the bank on; repeatable", true, [o](const std::string& text) {
    Scenario scratch;
    set_bug(scratch, text);
    o->bugs.push_back(text);
  });
  add("--preempt", "MODEL", "full (default) or none", false,
      [o](const std::string& text) { set_preempt(o->scenario, text); });
  add("--memory", "MODEL", "sc (default): every access takes effect at once", false,
      [](const std::string& text) { check_memory(text); });
}

// How it is run.
void add_run_options(std::vector<Option>& table, TortureOptions* o) {
  const char* group = "The run";
  const auto add = [&](const char* name, const char* value, const char* help,
                       std::function<void(const std::string&)> set) {
    table.push_back({name, value, help, group, false, false, std::move(set)});
  };
  add("--strategy", "NAME",
      "random, calm, pct:DEPTH, pos, or mix (default): one drawn per execution",
      [o](const std::string& text) { set_strategy(o->scenario, text); });
  add("--seed", "S", "Decimal or 0x hexadecimal (default: drawn, and printed)",
      [o](const std::string& text) { o->seed = number_of(text, 0, ~uint64_t{0}); });
  add("--duration", "TIME", "500ms, 30s (default), 10m, 8h, ...",
      [o](const std::string& text) { o->duration = duration_of(text); });
  add("--executions", "N", "Stop after so many executions (then without a default --duration)",
      [o](const std::string& text) { o->executions = number_of(text, 1, uint64_t{1} << 62); });
  add("--shard", "I/N",
      "Run the Ith of N equal parts of the executions; auto: of a Slurm array; auto/N: of a "
      "Kubernetes indexed job",
      [o](const std::string& text) { o->shard = parse_shard(text); });
  add("--resume", "DIR", "Go on with the run whose --out was DIR, from where it stopped",
      [o](const std::string& text) { o->resume = path_of(text); });
  add("--jobs", "N", "Worker processes (default: all cores)", [o](const std::string& text) {
    o->jobs = static_cast<unsigned>(number_of(text, 1, kMaxJobs));
  });
  add("--keep-going", "", "Do not stop at the first failure",
      [o](const std::string&) { o->keep_going = true; });
  add("--check-determinism", "",
      "Run every execution twice, with memory and environment arranged otherwise, and compare",
      [o](const std::string&) { o->check_determinism = true; });
}

// What comes out.
void add_output_options(std::vector<Option>& table, TortureOptions* o) {
  const char* group = "Output";
  const auto add = [&](const char* name, const char* value, const char* help,
                       std::function<void(const std::string&)> set) {
    table.push_back({name, value, help, group, false, false, std::move(set)});
  };
  add("--out", "DIR", "Where failures are written (default: shootdown-out)",
      [o](const std::string& text) { o->out_given = path_of(text); });
  add("--stats", "TIME", "Interval of statistics lines (default: 15s); 0: none",
      [o](const std::string& text) {
        o->stats_given = text == "0" ? std::chrono::milliseconds{0} : duration_of(text);
      });
  add("--stat_interval", "S", "The same in seconds, as the kernel has it",
      [o](const std::string& text) {
        o->stat_interval_given = std::chrono::seconds(number_of(text, 0, 1'000'000));
      });
  add("--json", "FILE", "Write a summary of the run",
      [o](const std::string& text) { o->json = path_of(text); });
  add("--quiet", "", "Only failures and the verdict", [o](const std::string&) { o->quiet = true; });
}

// Whether the option says what is run, so that a run that goes on has it already.
bool fixed_by_resume(const std::string& name) {
  for (const char* free :
       {"--resume", "--duration", "--executions", "--jobs", "--keep-going", "--check-determinism",
        "--stats", "--stat_interval", "--json", "--quiet", "--verbose"}) {
    if (name == free) return false;
  }
  return true;
}

const char* group_of(const Field& field) {
  switch (field.form) {
    case Field::Form::own:
      return "The machine and one execution";
    case Field::Form::boot:
    case Field::Form::smp:
      return "Boot parameters, also as NAME=VALUE (csdlock_debug=1, smp.csd_lock_timeout=50)";
    case Field::Form::scftorture:
      return "Parameters of scftorture, also as scftorture.NAME=VALUE";
    case Field::Form::torture:
      return "Parameters of the torture framework, also as torture.NAME=VALUE";
  }
  return "";
}

}  // namespace

std::vector<Option> torture_option_table(TortureOptions* options) {
  std::vector<Option> table;
  add_stack_options(table, options);
  add_run_options(table, options);
  add_output_options(table, options);
  const Scenario standard;
  for (const Field& field : fields()) {
    Option option;
    option.name = "--" + field.name;
    option.value = !field.boolean ? "N" : field.max == 0 ? "0" : "0|1";
    option.help = field.help + (field.help.empty() ? "(default: " : " (default: ") +
                  field.text(standard) + ")";
    option.group = group_of(field);
    option.set = [options, &field](const std::string& text) {
      field.parse(options->scenario, text);
    };
    table.push_back(std::move(option));
  }
  for (Option& option : table) {
    if (!fixed_by_resume(option.name)) continue;
    option.set = [options, name = option.name, set = option.set](const std::string& text) {
      options->fixed_by_resume.push_back(name);
      set(text);
    };
  }
  return table;
}

std::string kernel_parameter_option(const std::string& word) {
  const size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  for (char& c : name) c = c == '-' ? '_' : c;  // the kernel does not tell them apart
  std::vector<std::string> known = {"scftorture.stat_interval"};
  for (const Field& field : fields()) {
    if (const std::string kernel = field.kernel_name(); !kernel.empty()) known.push_back(kernel);
  }
  const bool has_prefix =
      name.starts_with("scftorture.") || name.starts_with("torture.") || name.starts_with("smp.");
  for (const std::string& candidate : known) {
    if (name != candidate) continue;
    // A parameter without a value is true, as in the kernel.
    return "--" + name.substr(name.find('.') + 1) +
           (equals == std::string::npos ? "=1" : word.substr(equals));
  }
  if (!has_prefix && equals == std::string::npos) return {};
  const std::string near = has_prefix ? nearest(name, known) : "";
  usage_error("unknown parameter " + quote(name) +
              (near.empty() ? "" : "; did you mean " + near + "?"));
}

void TortureOptions::go_on_from(const RunState& state) {
  if (!fixed_by_resume.empty()) {
    usage_error(fixed_by_resume.front() + " and --resume exclude each other: what is run is in " +
                state_path(resume));
  }
  const int verbose = scenario.scf.verbose;
  scenario = state.scenario;
  if (verbose != 0) scenario.scf.verbose = verbose;
  seed = state.seed;
  shard = state.shard;
  keep_going |= state.keep_going;
  check_determinism |= state.check_determinism;
  if (duration) {
    *duration += state.elapsed;
  } else if (!executions) {
    duration = state.duration;
    executions = state.executions;
  }
  const bool done = (duration && *duration <= state.elapsed) ||
                    (executions && shard.share_of(*executions) <= state.next &&
                     std::none_of(state.unfinished.begin(), state.unfinished.end(),
                                  [&](uint64_t number) { return number < *executions; }));
  if (done) {
    usage_error("the run in " + resume + " has come to its end; " +
                (executions ? "--executions N with a larger N, or --duration TIME, goes on with it"
                            : "--duration TIME goes on with it for so long"));
  }
  out = resume;
  earlier = state;
}

void TortureOptions::finish() {
  for (const std::string& patch : patches) {
    for (const std::string& other : patches) {
      if (patch[0] != other[0] && series::find(patch.substr(1)) == series::find(other.substr(1))) {
        usage_error("--patch " + patch + " and --patch " + other + " exclude each other");
      }
    }
    set_patch(scenario, patch);
  }
  for (const std::string& bug : bugs) set_bug(scenario, bug);
  for (const std::string& bug : bugs) {
    const bugs::BugInfo& info = *sd::bugs::find(bug);
    for (const std::string& patch : patches) {
      const series::PatchSet bit = series::bit(series::find(patch.substr(1))->patch);
      const bool on = patch[0] == '+';
      if ((bit & (on ? info.forced_off : info.forced_on)).none()) continue;
      usage_error("--bug " + bug + " and --patch " + patch +
                  " exclude each other: the bug needs it " + (on ? "off" : "on"));
    }
  }
  scenario.machine.patches = sd::bugs::with_forced(scenario.machine.patches, scenario.machine.bugs);
  check_scenario(scenario);
  if (stats_given && stat_interval_given) {
    usage_error("--stats and --stat_interval exclude each other");
  }
  if (stats_given) stats = *stats_given;
  if (stat_interval_given) stats = *stat_interval_given;
  scenario.scf.stat_interval = static_cast<int>(stats.count() / 1000);  // for the parameter line
  if (!resume.empty()) {
    go_on_from(load_state(resume));
  } else if (out_given) {
    out = *out_given;
  } else if (!shard.is_whole()) {
    out += fmt::format("-{}-of-{}", shard.index + 1, shard.count);
  }
  if (!shard.is_whole() && !seed) {
    usage_error("--shard needs --seed, the same for all shards: they are parts of one run");
  }
  if (!duration && !executions) duration = kDefaultDuration;
  if (jobs == 0) jobs = available_cores();
}

}  // namespace sd::torture
