#include "torture/scenario.h"

#include <algorithm>

#include "core/bugs/bugs.h"
#include "core/engine/strategy.h"
#include "core/kernel/param.h"
#include "core/series/series.h"
#include "torture/fields.h"
#include "torture/parse.h"
#include "torture/scf/selector.h"
#include "torture/user_error.h"

namespace sd::torture {

namespace {

using series::PatchSet;

constexpr const char* kDefaultSeries = "merged";
constexpr const char* kNone = "none";

std::string names_of_sets() {
  std::string names;
  for (const auto& set : series::named_sets())
    names += (names.empty() ? "" : ", ") + std::string(set.name);
  return names;
}

const series::PatchInfo& find_patch(const std::string& name) {
  if (const series::PatchInfo* info = series::find(name)) return *info;
  usage_error(quote(name) + " is not a patch; shootdown series list shows them");
}

// Patches that are not as the named set, with what the bugs force, would have them.
PatchSet difference(const series::NamedSet& set, const machine::Config& machine) {
  return bugs::with_forced(set.patches, machine.bugs) ^ machine.patches;
}

// The named set that differs least; the default one among equals.
const series::NamedSet& nearest_set(const machine::Config& machine) {
  const series::NamedSet* best = nullptr;
  for (const auto& set : series::named_sets()) {
    if (best == nullptr) best = &set;
    const size_t now = difference(set, machine).count();
    const size_t before = difference(*best, machine).count();
    if (now < before || (now == before && set.name == std::string_view(kDefaultSeries)))
      best = &set;
  }
  return *best;
}

struct Switches {
  std::string series;                // "" for the default
  std::vector<std::string> patches;  // "+P04"
  std::vector<std::string> bugs;
};

Switches switches_of(const Scenario& scenario) {
  Switches out;
  const series::NamedSet& base = nearest_set(scenario.machine);
  if (base.name != std::string_view(kDefaultSeries)) out.series = base.name;
  const PatchSet changed = difference(base, scenario.machine);
  for (const auto& patch : series::all()) {
    if (!series::has(changed, patch.patch)) continue;
    const bool on = series::has(scenario.machine.patches, patch.patch);
    out.patches.push_back((on ? "+" : "-") + std::string(patch.name));
  }
  for (const auto& bug : bugs::all()) {
    if (bugs::has(scenario.machine.bugs, bug.bug)) out.bugs.emplace_back(bug.id);
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out.empty() ? kNone : out;
}

std::vector<std::string> words_of(const std::string& text) {
  return text == kNone ? std::vector<std::string>{} : split(text, ' ');
}

// Sets the one key, or returns false if there is no key of that name.
bool set_key(Scenario& scenario, const std::string& key, const std::string& value) {
  if (key == "kind") {
    if (value != "scf")
      usage_error(quote(value) + " is not a kind of torture of this version: scf");
  } else if (key == "memory") {
    check_memory(value);
  } else if (key == "preempt") {
    set_preempt(scenario, value);
  } else if (key == "patches") {
    scenario.machine.patches.reset();
    for (const auto& name : words_of(value)) {
      scenario.machine.patches |= series::bit(find_patch(name).patch);
    }
  } else if (key == "bugs") {
    scenario.machine.bugs.reset();
    for (const auto& name : words_of(value)) set_bug(scenario, name);
  } else {
    const auto field = std::find_if(fields().begin(), fields().end(),
                                    [&](const Field& f) { return f.name == key; });
    if (field == fields().end()) return false;
    field->parse(scenario, value);
  }
  return true;
}

// Of all operations together, if each went to all CPUs: measured, 4 to 512 CPUs.
uint64_t expected_steps(const Scenario& scenario) {
  const uint64_t cpus = scenario.machine.cpus;
  const uint64_t threads =
      scenario.scf.nthreads < 0 ? cpus : static_cast<uint64_t>(scenario.scf.nthreads);
  return threads * static_cast<uint64_t>(scenario.scf.ops) * (100 + 25 * cpus);
}

}  // namespace

Scenario::Scenario() {
  using kernel::Param;
  const auto set = [this](Param param, int64_t value) {
    machine.params[static_cast<size_t>(param)] = value;
  };
  set(Param::csd_lock_timeout, 5000);
  set(Param::ipi_mask_inlined, -1);
  // Both kinds of idle matter to the call path; neither is rare in a real machine.
  set(Param::idle_poll_percent, 50);
  // Often enough that a run meets every failure, seldom enough that most executions meet none.
  machine.alloc_fail = 64;
  machine.hotplug_fail = 16;
  set_series(*this, kDefaultSeries);
}

uint64_t step_bound(const Scenario& scenario) {
  if (scenario.machine.step_bound != 0) return scenario.machine.step_bound;
  // Until shutdown_secs nobody knows how much work there is.
  if (scenario.scf.ops == 0) return kMaxSteps;
  // Boot, hotplug and the end of the test; most of that grows with the number of CPUs.
  const uint64_t frame = 1'000'000 + 50'000 * uint64_t{scenario.machine.cpus};
  constexpr uint64_t kMargin = 8;
  return std::min(kMaxSteps, frame + kMargin * expected_steps(scenario));
}

void check_scenario(const Scenario& scenario) {
  const machine::Config& machine = scenario.machine;
  const scf::ScfParams& scf = scenario.scf;
  if (machine.boot_cpus > machine.cpus) {
    usage_error("boot_cpus is " + std::to_string(machine.boot_cpus) + ", but there are only " +
                std::to_string(machine.cpus) + " cpus");
  }
  if (machine.nodes > machine.cpus) {
    usage_error("nodes is " + std::to_string(machine.nodes) + ", but there are only " +
                std::to_string(machine.cpus) + " cpus");
  }
  if (scf.ops == 0 && scf.shutdown_secs == 0) {
    usage_error("ops is 0, which means until shutdown_secs, but shutdown_secs is 0 too");
  }
  if (scf.ops == 0 && scenario.strategy == "calm") {
    usage_error(
        "ops is 0, which means until shutdown_secs, but strategy calm lets no time pass while "
        "there is work");
  }
  if (expected_steps(scenario) > kMaxSteps / 2) {
    usage_error("ops " + std::to_string(scf.ops) + " on " + std::to_string(machine.cpus) +
                " cpus is too much for one execution; make it less and run more executions");
  }
  scf::Selector selector;
  const scf::SelectorError error = scf::build_selector(scf.weights, machine.cpus, &selector);
  if (error != scf::SelectorError::none) usage_error(scf::selector_error_text(error));
  for (const auto& bug : bugs::all()) {
    if (!bugs::has(machine.bugs, bug.bug)) continue;
    const PatchSet wrong = (bug.forced_on & ~machine.patches) | (bug.forced_off & machine.patches);
    for (const auto& patch : series::all()) {
      if (!series::has(wrong, patch.patch)) continue;
      const bool wants = series::has(bug.forced_on, patch.patch);
      usage_error(std::string("bug ") + bug.id + " needs patch " + patch.name +
                  (wants ? " on" : " off") + ", but it is " + (wants ? "off" : "on"));
    }
  }
}

KeyValues to_key_values(const Scenario& scenario) {
  KeyValues pairs = {{"kind", "scf"},
                     {"memory", "sc"},
                     {"preempt", scenario.machine.preempt_full ? "full" : "none"}};
  std::vector<std::string> patches;
  for (const auto& patch : series::all()) {
    if (series::has(scenario.machine.patches, patch.patch)) patches.emplace_back(patch.name);
  }
  pairs.emplace_back("patches", joined(patches));
  pairs.emplace_back("bugs", joined(switches_of(scenario).bugs));
  for (const Field& field : fields()) {
    // Written out, so that a file means the same if the rule changes.
    const bool is_bound = field.name == "step_bound";
    pairs.emplace_back(field.name,
                       is_bound ? std::to_string(step_bound(scenario)) : field.text(scenario));
  }
  return pairs;
}

Scenario from_key_values(const KeyValues& pairs) {
  Scenario scenario;
  std::vector<std::string> missing;
  for (const auto& [key, value] : to_key_values(scenario)) missing.push_back(key);
  for (size_t i = 0; i < pairs.size(); i++) {
    const auto& [key, value] = pairs[i];
    const auto at = std::find(missing.begin(), missing.end(), key);
    try {
      if (at == missing.end()) {
        Scenario scratch;
        const bool known = set_key(scratch, key, value);
        throw ScenarioError{
            i, quote(key) + (known ? " is there twice" : " is not a key of this version")};
      }
      set_key(scenario, key, value);
    } catch (const UserError& error) {
      throw ScenarioError{i, key + ": " + error.what()};
    }
    missing.erase(at);
  }
  if (!missing.empty()) throw ScenarioError{pairs.size(), "a line is missing: " + missing.front()};
  try {
    check_scenario(scenario);
  } catch (const UserError& error) {
    throw ScenarioError{pairs.size(), error.what()};
  }
  return scenario;
}

std::string to_options(const Scenario& scenario) {
  const Scenario standard;
  const Switches switches = switches_of(scenario);
  Scenario ruled = scenario;
  ruled.machine.step_bound = 0;
  const bool by_rule = step_bound(ruled) == step_bound(scenario);
  std::string out = "--cpus " + std::to_string(scenario.machine.cpus) + " --series " +
                    (switches.series.empty() ? kDefaultSeries : switches.series);
  for (const std::string& patch : switches.patches) out += " --patch " + patch;
  for (const std::string& bug : switches.bugs) out += " --bug " + bug;
  if (!scenario.machine.preempt_full) out += " --preempt none";
  if (scenario.strategy != standard.strategy) out += " --strategy " + scenario.strategy;
  for (const Field& field : fields()) {
    if (field.name == "cpus" || field.get(scenario) == field.get(standard)) continue;
    if (field.name == "step_bound" && by_rule) continue;
    out += " --" + field.name + " " + field.text(scenario);
  }
  return out;
}

std::string switches_text(const Scenario& scenario) {
  const Switches switches = switches_of(scenario);
  std::string out = switches.series;
  for (const std::string& patch : switches.patches) out += patch;
  for (const std::string& bug : switches.bugs) out += (out.empty() ? "" : "+") + bug;
  return out;
}

std::vector<std::string> notes_on(const Scenario& scenario) {
  std::vector<std::string> out;
  PatchSet forced_off;  // by bugs that are made of it
  for (const auto& bug : bugs::all()) {
    if (bugs::has(scenario.machine.bugs, bug.bug)) forced_off |= bug.forced_off;
  }
  for (const series::Unmet& unmet : series::unmet(scenario.machine.patches)) {
    if (series::has(forced_off, unmet.needs)) continue;
    out.push_back(std::string("patch ") + series::info(unmet.patch).name + " is not safe without " +
                  series::info(unmet.needs).name + ": expect failures");
  }
  for (const auto& bug : bugs::all()) {
    if (!bugs::has(scenario.machine.bugs, bug.bug) || bug.needs.memory == bugs::Memory::sc)
      continue;
    out.push_back(std::string("bug ") + bug.id + " needs a memory model weaker than sc: it " +
                  "cannot be found in this run");
  }
  return out;
}

const bugs::BugInfo& find_bug(const std::string& name) {
  if (const bugs::BugInfo* info = bugs::find(name)) return *info;
  usage_error(quote(name) + " is not a bug of the bank; shootdown bugs list shows them");
}

void set_series(Scenario& scenario, const std::string& name) {
  const auto set = series::find_set(name);
  if (!set) usage_error(quote(name) + " is not a named set of patches: " + names_of_sets());
  scenario.machine.patches = *set;
}

void set_patch(Scenario& scenario, const std::string& signed_name) {
  if (!signed_name.starts_with('+') && !signed_name.starts_with('-')) {
    usage_error(quote(signed_name) + " does not start with + (switch on) or - (switch off)");
  }
  const series::PatchInfo& info = find_patch(signed_name.substr(1));
  scenario.machine.patches.set(static_cast<size_t>(info.patch), signed_name[0] == '+');
}

void set_bug(Scenario& scenario, const std::string& name) {
  scenario.machine.bugs |= bugs::bit(find_bug(name).bug);
}

void set_strategy(Scenario& scenario, const std::string& name) {
  std::string error;
  if (engine::make_strategy(name, &error) == nullptr) {
    usage_error(quote(name) + " is not a strategy: " + engine::kStrategySpecs);
  }
  scenario.strategy = name;
}

void set_preempt(Scenario& scenario, const std::string& name) {
  if (name != "full" && name != "none")
    usage_error(quote(name) + " is not a preemption model: full, none");
  scenario.machine.preempt_full = name == "full";
}

void check_memory(const std::string& name) {
  if (name == "sc") return;
  if (name == "tso" || name == "lkmm")
    usage_error(quote(name) + " is not available in this version, only sc");
  usage_error(quote(name) + " is not a memory model of this version: sc");
}

}  // namespace sd::torture
