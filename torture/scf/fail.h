// How the torture's own checks fail: the kernel's counter goes up, and the execution ends.
#pragma once

#include "torture/scf/state.h"

// counter: n_errs, n_mb_in_errs or n_mb_out_errs. Does not return.
#define SCF_FAIL(counter, id, fn, ...)             \
  do {                                             \
    ++(&::sd::scf::scf_state)->run->stats.counter; \
    sd_fail(id, fn, __VA_ARGS__);                  \
  } while (0)
