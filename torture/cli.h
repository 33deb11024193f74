// Turns commands (command.h) into a command line parser with help, and runs the one that was named.
// The only user of CLI11, which is heavy.
#pragma once

#include <string>
#include <vector>

#include "torture/command.h"

namespace sd::torture {

// Parses and runs. Help and version go to stdout; every mistake is one line on stderr and
// exit_usage. `version` is what --version prints.
int run_command_line(const Command& program, const std::string& version,
                     const std::vector<std::string>& arguments);

}  // namespace sd::torture
