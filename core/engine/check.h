// Our own invariants. A failed SD_CHECK is a bug of shootdown itself, never a verdict on the code
// under test (that is a Failure, failure.h) and never a user's mistake (exit 2).
// Always compiled in.
#pragma once

namespace sd::engine {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace sd::engine

#define SD_CHECK(expression)           \
  (__builtin_expect(!!(expression), 1) \
       ? (void)0                       \
       : ::sd::engine::check_failed(#expression, __FILE__, __LINE__))
