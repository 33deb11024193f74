// The subcommands, one file each. `program` is how the program was called, for commands in its
// output.
#pragma once

#include <string>

#include "torture/command.h"

namespace sd::torture {

Command torture_command(const std::string& program);
Command replay_command(const std::string& program);
Command merge_command();
Command bench_command(const std::string& program);
Command bugs_command(const std::string& program);
Command hunt_command(const std::string& program);  // of bugs
Command series_command();

}  // namespace sd::torture
