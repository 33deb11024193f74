// Exit codes of the program, and the one exception that carries a user's mistake or the fault of
// the environment to main(), which prints its single line on stderr.
#pragma once

#include <stdexcept>
#include <string>

namespace sd::torture {

enum ExitCode : int {
  exit_clean = 0,        // no failure
  exit_failure = 1,      // a failure was found, or reproduced
  exit_usage = 2,        // wrong usage, or an unusable input file
  exit_environment = 3,  // no permission, disk full, tool missing
  exit_no_fit = 4,       // a replay file that this build runs differently
};

class UserError : public std::runtime_error {
 public:
  UserError(ExitCode code, const std::string& line) : std::runtime_error(line), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// exit_usage: which option or file and line, what it says, what was expected.
[[noreturn]] inline void usage_error(const std::string& line) {
  throw UserError(exit_usage, line);
}

// exit_environment: what is wrong, and the remedy.
[[noreturn]] inline void environment_error(const std::string& line) {
  throw UserError(exit_environment, line);
}

}  // namespace sd::torture
