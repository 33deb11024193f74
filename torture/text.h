// Plain text for the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sd::torture {

// Breaks `text` at blanks so that no line is longer than `width`, each line behind `indent` blanks.
std::string wrapped(std::string_view text, size_t indent, size_t width = 100);

// "name:  value" with values in one column.
std::string labelled(std::string_view label, std::string_view value);

// Columns as wide as they need to be; the last is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows);

// "1 run", "2 runs".
std::string counted(uint64_t n, std::string_view noun);

}  // namespace sd::torture
