// The summary of a run as one JSON object, for scripts.
#pragma once

#include <string>

#include "torture/options.h"
#include "torture/supervisor.h"

namespace sd::torture {

std::string summary_json(const TortureOptions& options, const RunResult& result);

}  // namespace sd::torture
