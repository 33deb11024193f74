// The parts that the bug bank is put together from; for the .cc files of this folder only.
#pragma once

#include <initializer_list>
#include <vector>

#include "core/bugs/bugs.h"

namespace sd::bugs::bank {

using series::Patch;

inline series::PatchSet patches(std::initializer_list<Patch> list) {
  series::PatchSet set;
  for (Patch patch : list) set |= series::bit(patch);
  return set;
}

// Every call to many CPUs waits preemptibly, and the torture lets it.
inline series::PatchSet preemptible_many() {
  return patches({Patch::p04, Patch::p05, Patch::p06, Patch::p07, Patch::p08, Patch::p09});
}

// In the order of their numbers, and in this order.
std::vector<BugInfo> historic();  // canary, historic, subset
std::vector<BugInfo> mutants();
std::vector<BugInfo> quirks();

}  // namespace sd::bugs::bank
