// WARN and BUG. A WARN that fires is a failure of the execution (sd_warn), as badness is in a
// torture log; a BUG always is, and does not return.
#pragma once

#include "core/machine/sd.h"

#define WARN(condition, ...)                                                                 \
  ({                                                                                         \
    const bool sd_warned_ = !!(condition);                                                   \
    if (__builtin_expect(sd_warned_, 0)) sd_warn(__FILE__, __LINE__, __func__, __VA_ARGS__); \
    sd_warned_;                                                                              \
  })
#define WARN_ON(condition) WARN(condition, "%s", #condition)
// The kernel's once-only flag belongs to a boot; a failure ends the execution, so once is implied.
#define WARN_ONCE(condition, ...) WARN(condition, __VA_ARGS__)
#define WARN_ON_ONCE(condition) WARN_ON(condition)
#define BUG_ON(condition)                                     \
  do {                                                        \
    if (__builtin_expect(!!(condition), 0))                   \
      sd_bug(__FILE__, __LINE__, __func__, "%s", #condition); \
  } while (0)
#define BUG() BUG_ON(true)
