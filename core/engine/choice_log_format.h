// How a choice log lies in its file, for the writer (choice_log.cc) and the reader
// (choice_log_reader.cc) and nobody else. Files do not leave the machine: native byte order.
//
// A choice is two varints (7 bits a byte, lowest first, high bit: more follows): value * 2 + (1
// for a number), and count. A number has its purpose in one more byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engine/choice_log.h"

namespace sd::engine {

struct ChoiceLogHeader {
  static constexpr uint32_t kVersion = 2;
  // Choices begin here, a whole number of pages behind the header.
  static constexpr size_t kSize = size_t{64} << 10;

  char magic[8];
  uint32_t version;
  uint32_t state;  // a LogState
  uint64_t execution;
  uint64_t seed;
  uint64_t bytes;    // of choices
  uint64_t dropped;  // choices, since the file was made, for which there was no room
  uint32_t overflowed;
  uint32_t scenario_bytes;
  char scenario[ChoiceLog::kMaxScenarioBytes];
};
static_assert(sizeof(ChoiceLogHeader) <= ChoiceLogHeader::kSize);

}  // namespace sd::engine
