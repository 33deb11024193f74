#include "torture/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace sd::torture {

std::optional<uint64_t> parse_uint(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_int(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto magnitude = parse_uint(text);
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!magnitude || *magnitude > kMax) return std::nullopt;
  const auto value = static_cast<int64_t>(*magnitude);
  return negative ? -value : value;
}

std::optional<bool> parse_bool(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (lower == "1" || lower == "y" || lower == "yes" || lower == "on") return true;
  if (lower == "0" || lower == "n" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
};
constexpr std::array kUnits = {Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000},
                               Unit{"h", 3'600'000}};
constexpr int64_t kLongestMs = 366LL * 24 * 3'600'000;

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (digits == 0 || error != std::errc() || value <= 0) return std::nullopt;
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const Unit& u) { return u.name == text.substr(digits); });
  if (unit == kUnits.end() || value > kLongestMs / unit->ms) return std::nullopt;
  return std::chrono::milliseconds(value * unit->ms);
}

std::string duration_text(std::chrono::milliseconds duration) {
  for (size_t i = kUnits.size(); i-- > 0;) {
    if (duration.count() % kUnits[i].ms != 0) continue;
    return std::to_string(duration.count() / kUnits[i].ms) + std::string(kUnits[i].name);
  }
  return {};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t at = text.find(separator);
    if (const auto part = text.substr(0, at); !part.empty()) parts.emplace_back(part);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

namespace {

// Levenshtein distance; words are short.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // A third of the word may be wrong: enough for a slip, too little for another word.
  constexpr size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return {};
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const size_t d = distance(word, candidate);
    if (d >= best) continue;
    best = d;
    found = candidate;
  }
  return found;
}

std::string quote(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) out += c >= ' ' && c < 0x7f ? c : '?';
  if (text.size() > kLongest) out += "...";
  return out + "'";
}

}  // namespace sd::torture
