// A subcommand as data: what it is called, what it takes, what it does. cli.cc turns these into a
// parser and help; each command file makes its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "torture/user_error.h"

namespace sd::torture {

// One option, or one positional argument (`name` without dashes). `set` is called once per value,
// in the order of the command line, and reports a bad one by usage_error(); its line need not name
// the option.
struct Option {
  std::string name;   // "--cpus"
  std::string value;  // "N"; empty: a flag
  std::string help;
  std::string group = "";   // heading in the help
  bool repeatable = false;  // else two different values are an error
  bool required = false;
  std::function<void(const std::string&)> set;
};

struct Command {
  std::string name;
  std::string summary;
  std::string example;  // works when pasted
  std::vector<Option> options;
  std::vector<Command> commands;  // one of them is to be named, if there are any
  std::function<int()> run;       // after all values are set; returns an ExitCode
  // Kernel style parameters, "scftorture.nthreads=3": rewritten to "--nthreads=3" if the function
  // returns the option's name, refused by its usage_error(), left alone if it returns "".
  std::function<std::string(const std::string& word)> kernel_parameter;
};

}  // namespace sd::torture
