// What one execution runs, apart from the choices: the machine, the torture's parameters, the
// strategy. The same values, by the same names, are command line options, kernel style parameters,
// lines of a replay file, and words of the command line that is printed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/bugs/bugs.h"
#include "core/machine/config.h"
#include "torture/scf/scf.h"

namespace sd::torture {

struct Scenario {
  machine::Config machine;
  scf::ScfParams scf;
  std::string strategy = "mix";

  Scenario();  // the defaults of the command line
};

// The most steps that any execution may take: about three minutes of a plain build.
inline constexpr uint64_t kMaxSteps = 1'000'000'000;

// After how many steps an execution of this scenario is a livelock: as asked for, or else far above
// what the work in it takes.
uint64_t step_bound(const Scenario& scenario);

// Throws usage_error() where values that are fine by themselves are not together, or come to more
// work than an execution may be.
void check_scenario(const Scenario& scenario);

// Everything that influences an execution but the strategy, which only proposes choices; in a fixed
// order.
using KeyValues = std::vector<std::pair<std::string, std::string>>;
KeyValues to_key_values(const Scenario& scenario);

// The reverse, from whatever a file says: each key exactly once. Throws ScenarioError.
struct ScenarioError {
  size_t index = 0;     // of the pair that is wrong; the number of pairs: something is missing
  std::string message;  // names key, value and what was expected
};
Scenario from_key_values(const KeyValues& pairs);

// The options that make this scenario out of the default one: "--cpus 8 --bug H10".
std::string to_options(const Scenario& scenario);

// How series, patches and bugs differ from the default scenario's: "base+P04-P05+H10"; "" for none.
std::string switches_text(const Scenario& scenario);

// What a user should know before a run of it, a line each: switches that make failures likely, or
// that cannot show what they are there for. Empty for a safe scenario.
std::vector<std::string> notes_on(const Scenario& scenario);

// The bug of that name; usage_error() if there is none.
const bugs::BugInfo& find_bug(const std::string& name);

// Values by the names that users type; usage_error() if there is none of that name.
void set_series(Scenario& scenario, const std::string& name);
void set_patch(Scenario& scenario, const std::string& signed_name);  // "+P04", "-P05"
void set_bug(Scenario& scenario, const std::string& name);
void set_strategy(Scenario& scenario, const std::string& name);
void set_preempt(Scenario& scenario, const std::string& name);
void check_memory(const std::string& name);

}  // namespace sd::torture
