// The patch switches: every patch of the preemptible-wait series for cross-CPU calls as one bit,
// the kernel levels it is applied to, and the named sets that users ask for. Any subset may be
// switched on, also one that misses a prerequisite: that is how a prerequisite is shown to be one.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sd::series {

using PatchSet = std::bitset<64>;

// Values are bit numbers of a PatchSet. Append only; 10 to 12 are kept for the TLB patches.
enum class Patch : uint8_t {
  p01 = 1,
  p02,
  p03,
  p04,
  p05,
  p06,
  p07,
  p08,
  p09,
  v6_17 = 32,  // levels
  v7x,
  p06_merged = 40,  // forms
};

enum class PatchKind : uint8_t {
  patch,  // one patch of the series
  level,  // what a kernel release changed besides the series
  form,   // a patch as it was merged, where that differs from the posting
};

struct Prerequisite {
  Patch patch;
  // true: without it the result is wrong; false: without it there is only no gain, or noise.
  bool safety;
};

struct PatchInfo {
  Patch patch;
  PatchKind kind;
  const char* name;     // what a user types: "P06"
  const char* title;    // in the manner of a commit subject
  const char* origin;   // where it comes from
  const char* changes;  // what it changes, in one or two sentences
  std::span<const Prerequisite> needs;
};

struct NamedSet {
  const char* name;
  const char* title;
  PatchSet patches;
};

// All patches, in the order of their numbers.
std::span<const PatchInfo> all();
const PatchInfo& info(Patch patch);
// By name, in any case; nullptr: there is none of that name.
const PatchInfo* find(std::string_view name);

std::span<const NamedSet> named_sets();
// The set of that name, in any case.
std::optional<PatchSet> find_set(std::string_view name);
// Names of the sets that contain the patch.
std::vector<std::string_view> sets_with(Patch patch);

inline PatchSet bit(Patch patch) {
  return PatchSet{}.set(static_cast<unsigned>(patch));
}
inline bool has(const PatchSet& set, Patch patch) {
  return set.test(static_cast<unsigned>(patch));
}

// A patch of `set` whose safety prerequisite is not in `set`.
struct Unmet {
  Patch patch;
  Patch needs;
};
// What makes the set unsafe; empty for a safe one.
std::vector<Unmet> unmet(const PatchSet& set);
inline bool is_safe(const PatchSet& set) {
  return unmet(set).empty();
}

}  // namespace sd::series
