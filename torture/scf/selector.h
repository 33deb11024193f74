// Weights of the primitives, and the table that one of them is picked from (scf_sel_array of
// kernel/scftorture.c, Linux 6.12). Plain values: the driver checks and prints it, an execution
// picks from it.
#pragma once

#include <cstdint>

#include "torture/scf/scf.h"

namespace sd::scf {

// The function of the kernel that a primitive calls, as the table is printed with.
const char* prim_name(Prim prim);
// Whether its caller waits for the function (the table prints "wait" for these).
bool prim_waits(Prim prim);

struct Selector {
  struct Entry {
    uint64_t cumulative;  // sum of the weights up to and including this entry
    Prim prim;
  };
  Entry entry[kPrims];
  unsigned count = 0;
  uint64_t total = 0;  // below 2^32 - 1: a pick is one 32-bit draw
};

enum class SelectorError : uint8_t {
  none,
  all_zero,   // nothing is left to pick from
  too_large,  // a weight below -1, or a sum beyond 32 bits
};
// One line for the user, without a newline; nullptr for none.
const char* selector_error_text(SelectorError error);

// If no weight is above zero, zeros stay and the others get their defaults (those of the
// single-target primitives grow with the number of CPUs); otherwise what was not given counts as
// zero.
SelectorError build_selector(const std::array<int, kPrims>& weights, unsigned nr_cpus,
                             Selector* out);

// The first entry whose cumulative weight is >= w, for w in [0, total]: as in the kernel, the
// first entry has one chance more than its weight.
Prim pick(const Selector& selector, uint64_t w);

}  // namespace sd::scf
