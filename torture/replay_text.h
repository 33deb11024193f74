// A recorded execution as the text of an .sdr file, and back. The form is the engine's
// (replay_file.h); what the lines of the scenario mean is decided here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/chooser.h"
#include "torture/scenario.h"

namespace sd::torture {

struct Replay {
  Scenario scenario;
  std::string strategy;     // that was drawn; where the choices come from, nothing more
  uint64_t seed = 0;        // of the execution, likewise
  std::string signature;    // of the failure; "" for none
  uint64_t trace_hash = 0;  // 0: not known, because the process died
  std::vector<engine::Choice> choices;
};

std::string replay_text(const Replay& replay);

// usage_error() with file and line for anything that is not wholly a replay of this version. The
// log of a worker's choices, of a run that goes on or was killed, is one too.
Replay load_replay(const std::string& path);
Replay parse_replay(const std::string& text, const std::string& name);

// The execution that a process was in the middle of when it was killed, or that had failed and may
// not have been told, from the log of its choices; "" if there was none, or the log is not
// readable.
std::string interrupted_replay_text(const std::string& log_path);

// "key: value" lines.
std::string scenario_text(const Scenario& scenario);

}  // namespace sd::torture
