// Runs a recorded execution again, in a child process.
#pragma once

#include <string>

#include "core/engine/failure.h"
#include "torture/child.h"
#include "torture/replay_text.h"
#include "torture/report.h"

namespace sd::torture {

struct Rerun {
  bool died = false;        // the process did not survive it
  bool failed = false;      // died, or the execution failed
  engine::Failure failure;  // if failed
  std::string signature;    // if failed
  std::string events;       // the last ones, if failed (of a death: those before the last choice)
  std::string standard_error;  // if died
  bool diverged = false;       // the choices do not fit
  std::string divergence;      // one line
  uint64_t trace_hash = 0;     // 0 if died
  uint64_t steps = 0;
  bool complete = false;      // the execution has come to its end
  uint64_t choices_left = 0;  // recorded ones that the execution did not ask for
};

Rerun rerun_in_child(const Replay& replay, const ShownEvents& events);
// In this process, which may not survive it.
Rerun rerun_here(const Replay& replay, const ShownEvents& events);

}  // namespace sd::torture
