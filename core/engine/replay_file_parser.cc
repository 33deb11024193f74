#include <charconv>
#include <cstring>

#include "core/engine/replay_file.h"

namespace sd::engine {
namespace {

constexpr std::string_view kMagic = "shootdown-replay";

// A piece of the file, for a message of one line.
std::string quoted(std::string_view text) {
  constexpr size_t kShown = 32;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte <= '~') {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out + (text.size() > kShown ? "...'" : "'");
}

// A decimal number of at most `max`, all of `text`.
bool parse_number(std::string_view text, uint32_t max, uint32_t* value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *value);
  return !text.empty() && result.ec == std::errc() && result.ptr == end && *value <= max;
}

class Parser {
 public:
  Parser(std::string_view text, ReplayError* error) : rest_(text), error_(error) {}

  std::optional<ReplayFile> parse() {
    if (rest_.size() > ReplayFile::kMaxFileBytes) {
      fail("expected at most " + std::to_string(ReplayFile::kMaxFileBytes >> 20) + " MiB");
      return std::nullopt;
    }
    if (!version() || !entries() || !choices() || !nothing_more()) return std::nullopt;
    return std::move(file_);
  }

 private:
  bool fail(std::string message) {
    *error_ = ReplayError{line_number_, std::move(message)};
    return false;
  }
  bool expected(std::string_view what, std::string_view found) {
    return fail("expected " + std::string(what) + ", found " + quoted(found));
  }

  // The next line, without its end (LF or CR LF). False: there is none.
  bool next_line() {
    if (rest_.empty()) return false;
    ++line_number_;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    return true;
  }

  bool version();
  bool entries();
  bool entry();
  bool choices();
  bool token(std::string_view token);
  bool calm_run(std::string_view token);
  bool choice(std::string_view token);
  bool nothing_more();

  std::string_view rest_, line_;
  uint32_t line_number_ = 0;
  ReplayError* error_;
  ReplayFile file_;
};

bool Parser::version() {
  constexpr std::string_view kExpected = "'shootdown-replay 1' in the first line";
  if (!next_line()) return fail("expected " + std::string(kExpected) + ", found an empty file");
  const size_t space = line_.find(' ');
  if (line_.substr(0, space) != kMagic || space == std::string_view::npos) {
    return expected(kExpected, line_);
  }
  const std::string_view number = line_.substr(space + 1);
  if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) {
    return expected(kExpected, line_);
  }
  uint32_t version = 0;
  if (!parse_number(number, ReplayFile::kVersion, &version)) {
    return fail("replay version " + quoted(number) + " is too new: this build reads version 1");
  }
  if (version < ReplayFile::kVersion) {
    return fail("replay version " + quoted(number) + " is too old: this build reads version 1");
  }
  return true;
}

bool Parser::entries() {
  while (next_line()) {
    if (line_ == "choices:") return true;
    if (!entry()) return false;
  }
  return fail("truncated: expected 'key: value' or 'choices:' after this line");
}

bool Parser::entry() {
  const size_t colon = line_.find(':');
  const std::string_view key = line_.substr(0, colon);
  if (colon == std::string_view::npos || !ReplayFile::valid_key(key)) {
    return expected("'key: value' (a key is up to 64 of a-z 0-9 _ . -) or 'choices:'", line_);
  }
  std::string_view value = line_.substr(colon + 1);
  if (!value.empty()) {
    if (value.front() != ' ') return expected("a space after the colon", line_);
    value.remove_prefix(1);
  }
  if (value.size() > ReplayFile::kMaxValueBytes) {
    return fail("expected a value of at most " + std::to_string(ReplayFile::kMaxValueBytes) +
                " bytes for " + quoted(key));
  }
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      return fail("expected no control character in the value of " + quoted(key) + ", found " +
                  quoted({&c, 1}));
    }
  }
  if (file_.get(key) != nullptr)
    return fail("expected each key once, found " + quoted(key) + " again");
  if (file_.entries().size() == ReplayFile::kMaxEntries) {
    return fail("expected at most " + std::to_string(ReplayFile::kMaxEntries) + " keys");
  }
  file_.set(key, value);
  return true;
}

bool Parser::choices() {
  while (next_line()) {
    if (line_ == "end") return true;
    for (std::string_view left = line_; !left.empty();) {
      const size_t space = left.find(' ');
      const std::string_view word = left.substr(0, space);
      left.remove_prefix(space == std::string_view::npos ? left.size() : space + 1);
      if (!word.empty() && !token(word)) return false;
    }
  }
  return fail("truncated: expected choices or 'end' after this line");
}

bool Parser::token(std::string_view token) {
  switch (token.front()) {
    case 'z':
      return calm_run(token);
    case 'a':
    case 'n':
      return choice(token);
    default:
      return expected("a choice (aV/N, nV/N@purpose, zK) or 'end'", token);
  }
}

bool Parser::calm_run(std::string_view token) {
  uint32_t length = 0;
  const size_t room = ReplayFile::kMaxChoices - file_.choices.size();
  if (!parse_number(token.substr(1), ReplayFile::kMaxChoices, &length) || length == 0) {
    return expected("zK with K from 1 to 20000000", token);
  }
  if (length > room) return fail("expected at most 20000000 choices");
  file_.choices.resize(file_.choices.size() + length, Choice{});
  return true;
}

bool Parser::choice(std::string_view token) {
  Choice choice;
  choice.is_action = token.front() == 'a';
  const size_t slash = token.find('/');
  const size_t at = std::min(token.find('@'), token.size());
  if (slash == std::string_view::npos || slash > at || choice.is_action != (at == token.size())) {
    return expected(choice.is_action ? "aV/N" : "nV/N@purpose", token);
  }
  if (!parse_number(token.substr(slash + 1, at - slash - 1), kMaxChoiceCount, &choice.count) ||
      choice.count < 2) {
    return expected("N from 2 to 1048576 in V/N", token);
  }
  if (!parse_number(token.substr(1, slash - 1), choice.count - 1, &choice.value)) {
    return expected("V from 0 to N-1 in V/N", token);
  }
  if (!choice.is_action) {
    const std::string purpose(token.substr(at + 1));
    // A NUL would end the name too early.
    choice.purpose = purpose.find('\0') == std::string::npos ? purpose_from_name(purpose.c_str())
                                                             : Purpose::count_;
    if (choice.purpose == Purpose::count_) return expected("a known purpose", purpose);
  }
  if (file_.choices.size() == ReplayFile::kMaxChoices) {
    return fail("expected at most 20000000 choices");
  }
  file_.choices.push_back(choice);
  return true;
}

bool Parser::nothing_more() {
  while (next_line()) {
    if (!line_.empty()) return expected("nothing after 'end'", line_);
  }
  return true;
}

}  // namespace

std::optional<ReplayFile> ReplayFile::parse(std::string_view text, ReplayError* error) {
  return Parser(text, error).parse();
}

}  // namespace sd::engine
