#include <cstdio>
#include <memory>

#include "core/bugs/bugs.h"
#include "core/series/series.h"
#include "torture/commands.h"
#include "torture/parse.h"
#include "torture/text.h"

namespace sd::torture {

namespace {

std::string patch_names(const series::PatchSet& set, const char* sign) {
  std::string names;
  for (const auto& patch : series::all()) {
    if (series::has(set, patch.patch))
      names += (names.empty() ? "" : " ") + (sign + std::string(patch.name));
  }
  return names;
}

const char* memory_text(bugs::Memory memory) {
  switch (memory) {
    case bugs::Memory::sc:
      return "sc";
    case bugs::Memory::tso:
      return "tso";
    case bugs::Memory::lkmm:
      return "lkmm";
  }
  return "";
}

std::string needs_text(const bugs::Needs& needs) {
  std::string out = std::to_string(needs.cpus) + " CPUs, " + std::to_string(needs.tasks) +
                    (needs.tasks == 1 ? " task" : " tasks");
  const auto add = [&out](bool on, const char* text) {
    if (on) out += std::string(", ") + text;
  };
  add(needs.hotplug, "CPU hotplug");
  add(needs.preempt, "preemption");
  add(needs.polling, "polling idle CPUs");
  add(needs.csdlock_debug, "csdlock_debug=1");
  add(needs.allocated_masks, "masks on the heap");
  add(needs.alloc_fail, "failing allocations");
  out += std::string(", memory model ") + memory_text(needs.memory);
  if (needs.calls[0] != '\0') out += std::string("; by ") + needs.calls;
  return out;
}

int list() {
  std::vector<std::vector<std::string>> rows = {{"id", "kind", "memory", "found as", "title"}};
  for (const auto& bug : bugs::all()) {
    const std::string expected(bug.expected.empty() ? "" : bug.expected.front());
    rows.push_back(
        {bug.id, bugs::kind_name(bug.kind), memory_text(bug.needs.memory), expected, bug.title});
  }
  std::fputs(table(rows).c_str(), stdout);
  return exit_clean;
}

int show(const std::string& name) {
  const bugs::BugInfo* bug = bugs::find(name);
  if (bug == nullptr) {
    std::vector<std::string> known;
    for (const auto& other : bugs::all()) known.insert(known.end(), {other.id, other.slug});
    const std::string near = nearest(name, known);
    usage_error("bugs show: " + quote(name) + " is not a bug of the bank" +
                (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  std::string expected;
  for (const auto id : bug->expected) expected += (expected.empty() ? "" : ", ") + std::string(id);
  std::string forced = patch_names(bug->forced_on, "+");
  const std::string off = patch_names(bug->forced_off, "-");
  if (!forced.empty() && !off.empty()) forced += " ";
  forced += off;

  std::string out = std::string(bug->id) + " " + bug->slug + ": " + bug->title + "\n";
  if (bug->alias[0] != '\0') out += labelled("also", bug->alias);
  out += labelled("kind", bugs::kind_name(bug->kind)) + labelled("origin", bug->origin) +
         labelled("mechanism", bug->mechanism) + labelled("needs", needs_text(bug->needs)) +
         labelled("patches", forced.empty() ? "as they are" : forced) +
         labelled("found as", expected);
  std::fputs(out.c_str(), stdout);
  return exit_clean;
}

}  // namespace

Command bugs_command(const std::string& program) {
  Command list_command;
  list_command.name = "list";
  list_command.summary = "List the bugs that can be switched on";
  list_command.example = "shootdown bugs list";
  list_command.run = list;

  const auto id = std::make_shared<std::string>();
  Command show_command;
  show_command.name = "show";
  show_command.summary = "Origin and mechanism of a bug, what shows it and what finds it";
  show_command.example = "shootdown bugs show H10";
  show_command.options = {{"ID", "ID", "Id or name of a bug", "", false, true,
                           [id](const std::string& text) { *id = text; }}};
  show_command.run = [id] { return show(*id); };

  Command command;
  command.name = "bugs";
  command.summary = "The bugs that can be switched on";
  command.example = "shootdown bugs list";
  command.commands = {list_command, show_command, hunt_command(program)};
  return command;
}

}  // namespace sd::torture
