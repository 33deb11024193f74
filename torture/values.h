// The value of an option, or usage_error() with what was expected.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sd::torture {

uint64_t number_of(const std::string& text, uint64_t min, uint64_t max);
std::chrono::milliseconds duration_of(const std::string& text);
// A path that names something.
std::string path_of(const std::string& text);

}  // namespace sd::torture
