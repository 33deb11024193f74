// The summary of a run as one JSON object, for scripts.
#pragma once

#include <string>

#include "torture/options.h"
#include "torture/supervisor.h"

namespace sd::torture {

// --json FILE: environment_error() if it cannot be written.
void check_json_path(const std::string& path);
void write_json(const std::string& path, const std::string& text);
std::string json_remedy(const std::string& path, const std::string& error);

std::string summary_json(const TortureOptions& options, const RunResult& result);

}  // namespace sd::torture
