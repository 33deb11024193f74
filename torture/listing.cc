#include "torture/listing.h"

#include <memory>

#include "torture/parse.h"
#include "torture/user_error.h"

namespace sd::torture {

Command listing_command(const Listing& listing) {
  Command list;
  list.name = "list";
  list.summary = listing.list_summary;
  list.example = "shootdown " + listing.name + " list";
  list.run = listing.list;

  const auto entry = std::make_shared<std::string>();
  Command show;
  show.name = "show";
  show.summary = listing.show_summary;
  show.example = "shootdown " + listing.name + " show " + listing.show_example;
  show.options = {{listing.argument, listing.argument, listing.argument_help, "", false, true,
                   [entry](const std::string& text) { *entry = text; }}};
  show.run = [entry, run = listing.show] { return run(*entry); };

  Command command;
  command.name = listing.name;
  command.summary = listing.summary;
  command.example = list.example;
  command.commands = {list, show};
  return command;
}

void unknown_entry(const std::string& command, const std::string& name, const std::string& kind,
                   const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  usage_error(command + " show: " + quote(name) + " is not " + kind +
              (near.empty() ? "" : "; did you mean " + near + "?"));
}

void append(std::string& list, const std::string& item, const char* separator) {
  if (!list.empty()) list += separator;
  list += item;
}

std::string patch_names(const series::PatchSet& set, const std::string& sign) {
  std::string names;
  for (const auto& patch : series::all()) {
    if (series::has(set, patch.patch)) append(names, sign + patch.name, " ");
  }
  return names;
}

}  // namespace sd::torture
