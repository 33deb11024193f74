#include "core/bugs/bugs.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/bugs/bank.h"

namespace sd::bugs {
namespace {

char plain(char c) {
  if (c == '_') return '-';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (plain(a[i]) != plain(b[i])) return false;
  }
  return true;
}

}  // namespace

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::canary:
      return "canary";
    case Kind::historic:
      return "historic";
    case Kind::subset:
      return "subset";
    case Kind::mutant:
      return "mutant";
    case Kind::quirk:
      return "quirk";
  }
  std::abort();  // not a value of the enumeration
}

std::span<const BugInfo> all() {
  static const std::vector<BugInfo> bank = [] {
    std::vector<BugInfo> entries = bank::historic();
    for (const auto& part : {bank::mutants(), bank::quirks()}) {
      entries.insert(entries.end(), part.begin(), part.end());
    }
    return entries;
  }();
  return bank;
}

const BugInfo& info(Bug bug) {
  for (const BugInfo& entry : all()) {
    if (entry.bug == bug) return entry;
  }
  std::abort();  // not a value of the enumeration
}

const BugInfo* find(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const BugInfo& entry : all()) {
    if (same_name(entry.id, name) || same_name(entry.slug, name) || same_name(entry.alias, name)) {
      return &entry;
    }
  }
  return nullptr;
}

bool finds(const BugInfo& bug, std::string_view failure) {
  if (failure == "asan-use-after-poison" || failure == "asan-heap-use-after-free")
    failure = "use-after-free";
  return std::find(bug.expected.begin(), bug.expected.end(), failure) != bug.expected.end();
}

series::PatchSet with_forced(series::PatchSet patches, const BugSet& bugs) {
  for (const BugInfo& entry : all()) {
    if (!has(bugs, entry.bug)) continue;
    patches |= entry.forced_on;
    patches &= ~entry.forced_off;
  }
  return patches;
}

}  // namespace sd::bugs
