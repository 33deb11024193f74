// What a process died of, read from its exit status and its last words.
#pragma once

#include <string>

#include "core/engine/failure.h"
#include "torture/child.h"

namespace sd::torture {

// The failure that a process' end amounts to: kind crash, sanitizer, or livelock where the watchdog
// ended it. Step, time and place are not known here.
engine::Failure failure_of_death(const Ending& ending, const std::string& standard_error);

// Completes the failure of a race with function and detail from what the sanitizer wrote.
void read_race(const std::string& standard_error, engine::Failure* failure);

}  // namespace sd::torture
