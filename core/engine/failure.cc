#include "core/engine/failure.h"

namespace sd::engine {

const char* failure_kind_name(FailureKind kind) {
  switch (kind) {
    case FailureKind::invariant:
      return "invariant";
    case FailureKind::warning:
      return "warning";
    case FailureKind::bug:
      return "bug";
    case FailureKind::use_after_free:
      return "use_after_free";
    case FailureKind::data_race:
      return "data_race";
    case FailureKind::hang:
      return "hang";
    case FailureKind::livelock:
      return "livelock";
    case FailureKind::harness:
      return "harness";
    case FailureKind::sanitizer:
      return "sanitizer";
    case FailureKind::crash:
      return "crash";
  }
  return "?";
}

}  // namespace sd::engine
