// A failure, as a person meets it: what was violated, where, the last events, what was written, and
// the commands to go on with.
#pragma once

#include <string>
#include <vector>

#include "core/engine/failure.h"
#include "core/machine/config.h"
#include "torture/wire.h"

namespace sd::torture {

// Which events a report shows: the last `count`, all of them or those that tell what happened.
struct ShownEvents {
  unsigned count = 40;
  bool all = false;
};

// The part that only the process that ran the execution can write, and only before the next one.
std::string events_report(const machine::Outcome& outcome, const ShownEvents& shown);

// Where the report's files went. Empty: there are none.
struct ReportFiles {
  std::string replay;
  std::string report;
  std::string standard_error;
};

struct Report {
  std::string program = "shootdown";  // as it was called, for commands that work when pasted
  Finding finding;
  ReportFiles files;

  // Sentence, place, events.
  std::string body() const;
  // Body, files and commands. Without a replay file, the replay itself if it is small.
  std::string text() const;
};

// A word of a command line, quoted for the shell where it needs to be.
std::string shell_word(const std::string& word);

}  // namespace sd::torture
