// What makes two failures one finding.
#pragma once

#include <string>

#include "core/engine/failure.h"
#include "torture/scenario.h"

namespace sd::torture {

// Invariant, function, and how the switches differ from the default:
// "S-I12@csd_lock_wait+base-P04+H10". Also the name of a directory.
std::string signature(const engine::Failure& failure, const Scenario& scenario);

}  // namespace sd::torture
