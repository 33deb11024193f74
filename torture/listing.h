// What `bugs` and `series` share: a command with one part that lists a table and one that shows an
// entry of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/series/series.h"
#include "torture/command.h"

namespace sd::torture {

struct Listing {
  std::string name;  // of the command: "bugs"
  std::string summary;
  std::string list_summary;
  std::string show_summary;
  std::string show_example;  // an entry
  std::string argument;      // how help names one, "ID", and what it says of it
  std::string argument_help;
  std::function<int()> list;
  std::function<int(const std::string&)> show;
};
Command listing_command(const Listing& listing);

// usage_error(): there is no `name`, which is no `kind` ("a bug of the bank"), among what is known.
[[noreturn]] void unknown_entry(const std::string& command, const std::string& name,
                                const std::string& kind, const std::vector<std::string>& known);

// "P04 P06", with a sign before each; "" for none.
std::string patch_names(const series::PatchSet& set, const std::string& sign = "");
// One after the other, with a separator between them.
void append(std::string& list, const std::string& item, const char* separator = ", ");

}  // namespace sd::torture
