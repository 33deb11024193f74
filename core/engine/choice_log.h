// The choices of the current execution, in memory that survives the death of the process: a mapped
// file that another process reads after a crash, an abort of a sanitizer or kill -9. So no failure
// is lost, and none needs the help of the process that it killed.
//
// Written by one thread of one process; append() is called from fibers, allocates nothing, and the
// number of valid bytes is published after the bytes, so a reader never sees half a choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/chooser.h"

namespace sd::engine {

enum class LogState : uint32_t {
  idle,     // no execution, or one that ended well
  running,  // in a log that was left behind: the process died in this execution
  failed,   // the execution ended with a failure
};

// What a log says; a copy.
struct LoggedExecution {
  LogState state = LogState::idle;
  uint64_t execution = 0;
  uint64_t seed = 0;
  std::string scenario;
  bool overflowed = false;  // the choices are only the first of all that were made
  std::vector<Choice> choices;
};

// How its file begins.
inline constexpr char kChoiceLogMagic[8] = {'s', 'd', 'c', 'h', 'o', 'i', 'c', 'e'};

struct ChoiceLogHeader;  // choice_log_format.h

class ChoiceLog {
 public:
  static constexpr size_t kDefaultCapacity = size_t{64}
                                             << 20;  // bytes of choices, about 30 million
  static constexpr size_t kMaxScenarioBytes = size_t{60} << 10;

  // A log in a new file; one that is there already is replaced (not truncated: who has it open
  // keeps it). The file is sparse. nullptr: `error` is one line.
  static std::unique_ptr<ChoiceLog> create(const std::string& path, size_t capacity,
                                           std::string* error);
  // A log without a file; it is shared with children forked later.
  static std::unique_ptr<ChoiceLog> in_memory(size_t capacity = kDefaultCapacity);

  ~ChoiceLog();
  ChoiceLog(const ChoiceLog&) = delete;
  ChoiceLog& operator=(const ChoiceLog&) = delete;

  // What the next executions are executions of: any text, for whoever reads the log. False, and
  // nothing changes, if it is longer than kMaxScenarioBytes.
  [[nodiscard]] bool set_scenario(std::string_view scenario);

  // Forgets the choices; state running. O(1).
  void begin(uint64_t execution, uint64_t seed);
  // After an overflow, does nothing. `choice` is a real one: value < count <= kMaxChoiceCount.
  [[gnu::always_inline]] void append(const Choice& choice) {
    if (used_ + kMaxEncodedBytes > usable_ && !make_room()) return note_dropped();
    used_ = static_cast<size_t>(encode(choice, choices_ + used_) - choices_);
    publish();
  }
  void set_state(LogState state);

  // Changes whenever a choice is made: for whoever watches another process that writes.
  uint64_t pulse() const;

  bool overflowed() const { return overflowed_; }
  size_t bytes() const { return used_; }

  // The log as a reader of its memory sees it: also what a forked child wrote, and how it broke
  // it.
  std::optional<LoggedExecution> read(std::string* error) const;

 private:
  // Two varints below 2^21 and a byte.
  static constexpr size_t kMaxEncodedBytes = 8;

  ChoiceLog(uint8_t* base, size_t capacity, int fd);

  [[gnu::always_inline]] static uint8_t* encode(const Choice& choice, uint8_t* at) {
    const uint32_t first = choice.value << 1 | (choice.is_action ? 0u : 1u);
    if (__builtin_expect((first | choice.count) < 0x80, 1)) {
      *at++ = static_cast<uint8_t>(first);
      *at++ = static_cast<uint8_t>(choice.count);
    } else {
      at = put(choice.count, put(first, at));
    }
    if (!choice.is_action) *at++ = static_cast<uint8_t>(choice.purpose);
    return at;
  }
  static uint8_t* put(uint32_t value, uint8_t* at);
  void publish() { __atomic_store_n(published_, used_, __ATOMIC_RELEASE); }
  bool make_room();
  void note_dropped();

  ChoiceLogHeader* header_;
  uint8_t* choices_;
  uint64_t* published_;
  size_t used_ = 0;
  size_t usable_ = 0;  // bytes that are known to have space on the disk
  size_t capacity_;
  bool overflowed_ = false;
  int fd_;  // -1: none
};

// Reads a log that another process left behind, or still writes. The bytes are not trusted:
// whatever they are, the result is an execution that could have been logged, or nullopt and one
// line in `error`.
std::optional<LoggedExecution> read_choice_log(const std::string& path, std::string* error);
std::optional<LoggedExecution> parse_choice_log(std::string_view bytes, std::string* error);

}  // namespace sd::engine
