#include "torture/text.h"

#include <fmt/core.h>

#include <algorithm>

#include "torture/parse.h"

namespace sd::torture {

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  std::string out;
  std::string line(indent, ' ');
  for (const std::string& word : split(text, ' ')) {
    if (line.size() > indent && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
  }
  return out + line + "\n";
}

std::string labelled(std::string_view label, std::string_view value) {
  constexpr size_t kValues = 14;
  std::string out = wrapped(value, kValues);
  out.replace(0, label.size() + 1, std::string(label) + ":");
  return out;
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); i++) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string counted(uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace sd::torture
