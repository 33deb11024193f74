#include "core/engine/replay_file.h"

#include <algorithm>

namespace sd::engine {
namespace {

// In a calm run, this many choices are written as one number before one is written in full. Often
// enough for a replay that has left its recording to notice within an operation or two, rarely
// enough that the file of a calm execution stays small.
constexpr uint64_t kCalmPerCheck = 63;

// Writes tokens, breaking lines.
class TokenWriter {
 public:
  explicit TokenWriter(std::string* out) : out_(out) {}

  void put(const std::string& token) {
    if (column_ > 0 && column_ + 1 + token.size() > ReplayFile::kMaxColumns) end_line();
    if (column_ > 0) {
      *out_ += ' ';
      ++column_;
    }
    *out_ += token;
    column_ += token.size();
  }

  void end_line() {
    if (column_ > 0) *out_ += '\n';
    column_ = 0;
  }

 private:
  std::string* out_;
  size_t column_ = 0;
};

std::string token_of(const Choice& choice) {
  SD_CHECK(choice.value < choice.count && choice.count <= kMaxChoiceCount);
  const std::string numbers = std::to_string(choice.value) + "/" + std::to_string(choice.count);
  if (choice.is_action) return "a" + numbers;
  return "n" + numbers + "@" + purpose_name(choice.purpose);
}

void write_choices(const std::vector<Choice>& choices, std::string* out) {
  size_t size = choices.size();
  while (size > 0 && choices[size - 1].value == 0) --size;
  TokenWriter writer(out);
  uint64_t calm = 0;  // not written yet
  for (size_t i = 0; i < size; ++i) {
    const Choice& choice = choices[i];
    const bool in_full = choice.value != 0 || (choice.count != 0 && calm >= kCalmPerCheck);
    if (in_full && calm > 0) writer.put("z" + std::to_string(calm));
    calm = in_full ? 0 : calm + 1;
    if (in_full) writer.put(token_of(choice));
  }
  writer.end_line();
}

std::string one_line(std::string_view value) {
  std::string out(value.substr(0, ReplayFile::kMaxValueBytes));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  if (value.size() > ReplayFile::kMaxValueBytes) out.replace(out.size() - 3, 3, "...");
  return out;
}

}  // namespace

bool ReplayFile::valid_key(std::string_view key) {
  if (key.empty() || key.size() > kMaxKeyBytes || key == "choices" || key == "end") return false;
  return std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

void ReplayFile::set(std::string_view key, std::string_view value) {
  SD_CHECK(valid_key(key));
  for (Entry& entry : entries_) {
    if (entry.first == key) {
      entry.second = one_line(value);
      return;
    }
  }
  SD_CHECK(entries_.size() < kMaxEntries);
  entries_.emplace_back(key, one_line(value));
}

const std::string* ReplayFile::get(std::string_view key) const {
  for (const Entry& entry : entries_) {
    if (entry.first == key) return &entry.second;
  }
  return nullptr;
}

std::string ReplayFile::to_text() const {
  std::string out = "shootdown-replay " + std::to_string(kVersion) + "\n";
  for (const auto& [key, value] : entries_) {
    out += key;
    out += value.empty() ? ":" : ": ";
    out += value;
    out += '\n';
  }
  out += "choices:\n";
  write_choices(choices, &out);
  out += "end\n";
  return out;
}

std::string ReplayError::text(std::string_view file) const {
  const std::string place = line == 0 ? "" : ":" + std::to_string(line);
  return std::string(file) + place + ": " + message;
}

}  // namespace sd::engine
