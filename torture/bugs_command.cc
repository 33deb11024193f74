#include <cstdio>

#include "core/bugs/bugs.h"
#include "torture/commands.h"
#include "torture/listing.h"
#include "torture/text.h"

namespace sd::torture {

namespace {

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
  add(needs.cpus_read_lock, "use_cpus_read_lock=1");
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
    unknown_entry("bugs", name, "a bug of the bank", known);
  }
  std::string expected;
  for (const auto id : bug->expected) append(expected, std::string(id));
  std::string forced = patch_names(bug->forced_on, "+");
  if (const std::string off = patch_names(bug->forced_off, "-"); !off.empty())
    append(forced, off, " ");

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
  Command command = listing_command(
      {.name = "bugs",
       .summary = "The bugs that can be switched on",
       .list_summary = "List the bugs that can be switched on",
       .show_summary = "Origin and mechanism of a bug, what shows it and what finds it",
       .show_example = "H10",
       .argument = "ID",
       .argument_help = "Id or name of a bug",
       .list = list,
       .show = show});
  command.commands.push_back(hunt_command(program));
  return command;
}

}  // namespace sd::torture
