// What a bug of the bank needs to show, as a scenario.
#pragma once

#include "core/bugs/bugs.h"
#include "torture/scenario.h"

namespace sd::torture {

// The smallest changes to a scenario without which the bug cannot show; its patches are not among
// them, they go with the bug.
void meet_needs(Scenario& scenario, const bugs::BugInfo& bug);

}  // namespace sd::torture
