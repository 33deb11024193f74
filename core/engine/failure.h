// A verdict on the code under test. The first failure ends an execution.
#pragma once

#include <cstdint>
#include <string>

namespace sd::engine {

enum class FailureKind : uint8_t {
  invariant,       // an oracle saw a numbered invariant violated
  warning,         // the stack's own WARN fired
  bug,             // the stack's own BUG fired
  use_after_free,  // the heap saw an access to, or a free of, an object that is gone
  data_race,       // unordered plain accesses
  hang,            // nothing can run and somebody waits
  livelock,        // something runs, but the step bound passed
  harness,         // the torture's own checks (wrong CPU, memory ordering, counts)
  sanitizer,       // ASan, TSan or UBSan ended the process
  crash,           // a signal ended the process
};

const char* failure_kind_name(FailureKind kind);

struct Failure {
  FailureKind kind = FailureKind::invariant;
  std::string id;        // "S-I4", "WARN", "hang", ...
  std::string function;  // of the stack, where it was seen
  std::string message;   // one sentence: what was violated, with numbers
  std::string detail;    // further lines: both stacks of a use after free, who waits for what, ...
  uint32_t cpu = 0;
  std::string task;
  uint64_t step = 0;
  uint64_t time_ns = 0;  // virtual

  // What makes two failures the same finding; the switches of the scenario are added by who has
  // them.
  std::string signature() const { return id + "@" + function; }
};

}  // namespace sd::engine
