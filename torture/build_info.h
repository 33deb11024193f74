// What this program is: for --version, and for the provenance lines of replay files.
#pragma once

#include <string>

namespace sd::torture {

// "0.1.0 (plain, clang 14.0.6)"
std::string build_info();

}  // namespace sd::torture
