// Text to values, for options and for lines of replay files. Each function returns nothing if the
// text is not wholly such a value; who calls it says what was expected.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sd::torture {

// Decimal, or hexadecimal after 0x; a sign is allowed for the signed form only.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<uint64_t> parse_uint(std::string_view text);

// What the kernel takes for a bool: y n 1 0 on off, any case of the letters.
std::optional<bool> parse_bool(std::string_view text);

// A whole number and one of ms s m h, above zero and up to a year: "500ms", "30s", "10m", "8h".
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
// The shortest text that parse_duration reads back as the same.
std::string duration_text(std::chrono::milliseconds duration);

std::vector<std::string> split(std::string_view text, char separator);

// The candidate that `word` is most likely a slip of, or "" if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// For error lines: printable, quoted, cut where it gets long.
std::string quote(std::string_view text);

}  // namespace sd::torture
