#include <cstdio>
#include <memory>

#include "core/series/series.h"
#include "torture/commands.h"
#include "torture/parse.h"
#include "torture/text.h"

namespace sd::torture {

namespace {

std::string patch_names(const series::PatchSet& set) {
  std::string names;
  for (const auto& patch : series::all()) {
    if (series::has(set, patch.patch))
      names += (names.empty() ? "" : " ") + std::string(patch.name);
  }
  return names.empty() ? "none" : names;
}

std::string prerequisites(const series::PatchInfo& patch, const char* separator) {
  std::string out;
  for (const auto& need : patch.needs) {
    out += (out.empty() ? "" : separator) + std::string(series::info(need.patch).name);
    if (!need.safety) out += "?";
  }
  return out;
}

int list() {
  std::string out = "Named sets, for --series:\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& set : series::named_sets()) {
    rows.push_back({"", set.name, set.title, patch_names(set.patches)});
  }
  out +=
      table(rows) +
      "\nPatches, for --patch +P or -P; what each needs (?: only to be of use, not to be safe):\n";
  rows.clear();
  for (const auto& patch : series::all()) {
    rows.push_back({"", patch.name, prerequisites(patch, ","), patch.title});
  }
  std::fputs((out + table(rows)).c_str(), stdout);
  return exit_clean;
}

int show_set(const series::NamedSet& set) {
  std::string out = std::string(set.name) + ": " + set.title + "\n" +
                    labelled("patches", patch_names(set.patches));
  std::fputs(out.c_str(), stdout);
  return exit_clean;
}

int show_patch(const series::PatchInfo& patch) {
  std::string needs;
  for (const auto& need : patch.needs) {
    needs += (needs.empty() ? "" : ", ") + std::string(series::info(need.patch).name) +
             (need.safety ? " to be safe" : " to be of use");
  }
  std::string sets;
  for (const auto name : series::sets_with(patch.patch))
    sets += (sets.empty() ? "" : ", ") + std::string(name);
  const std::string out = std::string(patch.name) + ": " + patch.title + "\n" +
                          labelled("origin", patch.origin) + labelled("changes", patch.changes) +
                          labelled("needs", needs.empty() ? "nothing" : needs) +
                          labelled("in sets", sets.empty() ? "none" : sets);
  std::fputs(out.c_str(), stdout);
  return exit_clean;
}

int show(const std::string& name) {
  if (const series::PatchInfo* patch = series::find(name)) return show_patch(*patch);
  std::vector<std::string> known;
  for (const auto& patch : series::all()) known.emplace_back(patch.name);
  for (const auto& set : series::named_sets()) {
    if (series::find_set(name) == set.patches) return show_set(set);
    known.emplace_back(set.name);
  }
  const std::string near = nearest(name, known);
  usage_error("series show: " + quote(name) + " is not a patch or a named set" +
              (near.empty() ? "" : "; did you mean " + near + "?"));
}

}  // namespace

Command series_command() {
  Command list_command;
  list_command.name = "list";
  list_command.summary = "List the patches and the named sets";
  list_command.example = "shootdown series list";
  list_command.run = list;

  const auto name = std::make_shared<std::string>();
  Command show_command;
  show_command.name = "show";
  show_command.summary = "What a patch changes and needs, or what a named set contains";
  show_command.example = "shootdown series show P06";
  show_command.options = {{"NAME", "NAME", "A patch or a named set", "", false, true,
                           [name](const std::string& text) { *name = text; }}};
  show_command.run = [name] { return show(*name); };

  Command command;
  command.name = "series";
  command.summary = "The patches that can be switched, and named sets of them";
  command.example = "shootdown series list";
  command.commands = {list_command, show_command};
  return command;
}

}  // namespace sd::torture
