// A replay file (.sdr): one execution as text, small and good in git.
//
//   shootdown-replay 1
//   series: merged
//   seed: 0x2a
//   choices:
//   a2/3 z17 n4/9@op_kind a1/2
//   end
//
// Which keys there are, the layers above decide; any order, each once. Lines of choices have at
// most 100 columns.
//
// Choices: `aV/N` took action V of N; `nV/N@PURPOSE` drew V below N; `zK` are K calm choices (0)
// of any kind. Calm choices at the end are left out. In a long calm run every 64th or so is
// written in full (a0/5), for replay to check; of the others, reading gives Choice{0, 0}: value 0,
// count not known.
//
// The format is untrusted input: parsing any bytes whatever gives a ReplayFile within the limits
// below, or an error that says which line and what was expected there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/chooser.h"

namespace sd::engine {

// Why bytes are not a replay file: a user's mistake, one line.
struct ReplayError {
  uint32_t line = 0;  // from 1; 0: the file as a whole
  std::string message;

  // "FILE:LINE: message"
  std::string text(std::string_view file) const;
};

class ReplayFile {
 public:
  static constexpr uint32_t kVersion = 1;
  static constexpr size_t kMaxFileBytes = size_t{64} << 20;
  static constexpr size_t kMaxChoices = 20'000'000;
  static constexpr size_t kMaxEntries = 256;
  static constexpr size_t kMaxKeyBytes = 64;
  static constexpr size_t kMaxValueBytes = 16384;
  static constexpr size_t kMaxColumns = 100;  // of a line of choices, as written

  using Entry = std::pair<std::string, std::string>;

  // Sets the value of a key, in place if it is there, otherwise at the end. A key is [a-z0-9_.-]+,
  // not "choices" or "end", up to kMaxKeyBytes. Values have one line: control characters become
  // spaces, and a value that is too long is cut and ends in "...".
  void set(std::string_view key, std::string_view value);
  // The value of a key, or nullptr.
  const std::string* get(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }

  std::vector<Choice> choices;

  std::string to_text() const;

  // Writes the file as a whole or not at all (a temporary file beside it, then rename). 0 or an
  // errno.
  [[nodiscard]] int write(const std::string& path) const;

  static std::optional<ReplayFile> parse(std::string_view text, ReplayError* error);
  // `error->line` is 0 if the file cannot be read.
  static std::optional<ReplayFile> read(const std::string& path, ReplayError* error);

  static bool valid_key(std::string_view key);

 private:
  std::vector<Entry> entries_;
};

}  // namespace sd::engine
