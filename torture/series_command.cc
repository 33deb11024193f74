#include <cstdio>

#include "core/series/series.h"
#include "torture/commands.h"
#include "torture/listing.h"
#include "torture/text.h"

namespace sd::torture {

namespace {

std::string patches_of(const series::NamedSet& set) {
  const std::string names = patch_names(set.patches);
  return names.empty() ? "none" : names;
}

std::string prerequisites(const series::PatchInfo& patch, const char* separator) {
  std::string out;
  for (const auto& need : patch.needs) {
    append(out, std::string(series::info(need.patch).name) + (need.safety ? "" : "?"), separator);
  }
  return out;
}

int list() {
  std::string out = "Named sets, for --series:\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& set : series::named_sets()) {
    rows.push_back({"", set.name, set.title, patches_of(set)});
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
  std::string out =
      std::string(set.name) + ": " + set.title + "\n" + labelled("patches", patches_of(set));
  std::fputs(out.c_str(), stdout);
  return exit_clean;
}

int show_patch(const series::PatchInfo& patch) {
  std::string needs;
  for (const auto& need : patch.needs) {
    append(needs, std::string(series::info(need.patch).name) +
                      (need.safety ? " to be safe" : " to be of use"));
  }
  std::string sets;
  for (const auto name : series::sets_with(patch.patch)) append(sets, std::string(name));
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
  unknown_entry("series", name, "a patch or a named set", known);
}

}  // namespace

Command series_command() {
  return listing_command(
      {.name = "series",
       .summary = "The patches that can be switched, and named sets of them",
       .list_summary = "List the patches and the named sets",
       .show_summary = "What a patch changes and needs, or what a named set contains",
       .show_example = "P06",
       .argument = "NAME",
       .argument_help = "A patch or a named set",
       .list = list,
       .show = show});
}

}  // namespace sd::torture
