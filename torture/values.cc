#include "torture/values.h"

#include "torture/parse.h"
#include "torture/user_error.h"

namespace sd::torture {

uint64_t number_of(const std::string& text, uint64_t min, uint64_t max) {
  const auto value = parse_uint(text);
  if (value && *value >= min && *value <= max) return *value;
  usage_error(quote(text) + " is not a number from " + std::to_string(min) + " to " +
              std::to_string(max));
}

std::chrono::milliseconds duration_of(const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration)
    usage_error(quote(text) + " is not a duration: a number and one of ms, s, m, h, such as 30s");
  return *duration;
}

std::string path_of(const std::string& text) {
  if (text.empty()) usage_error("'' is not a path");
  return text;
}

}  // namespace sd::torture
