// What a worker tells its supervisor through a pipe. A worker may die in the middle of a message: a
// message counts only once it is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/engine/failure.h"

namespace sd::torture {

// A failure of one execution. The texts are there only when the worker sees the signature for the
// first time: later ones are only counted.
struct Finding {
  static constexpr uint64_t kNoRun = ~uint64_t{0};

  uint64_t execution = kNoRun;  // its number in the run
  engine::Failure failure;
  std::string signature;       // with switches, safe as a directory name
  std::string events;          // the part of the report that only the process itself can render
  std::string replay;          // an .sdr file
  std::string standard_error;  // of a process that died
  std::string remark;          // one more line about it, e.g. that it does not replay
  bool verified = false;       // whether a replay of it has been tried
  bool first() const { return !replay.empty(); }
};

// Appends the finding to a stream of bytes.
void encode(const Finding& finding, std::string* out);
// Takes the first whole finding off the stream, if there is one.
std::optional<Finding> decode(std::string* in);

}  // namespace sd::torture
