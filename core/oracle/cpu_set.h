// A set of CPUs of the current machine: as many words as it needs, plain.
#pragma once

#include <bit>
#include <cstdint>

#include "core/machine/config.h"

namespace sd::oracle {

struct CpuSet {
  static constexpr unsigned kWords = machine::kMaxCpus / 64;
  static constexpr unsigned words(unsigned cpus) { return (cpus + 63) / 64; }

  uint64_t bits[kWords] = {};

  bool has(unsigned cpu) const { return (bits[cpu / 64] >> (cpu % 64)) & 1; }
  void add(unsigned cpu) { bits[cpu / 64] |= 1ull << (cpu % 64); }
  void remove(unsigned cpu) { bits[cpu / 64] &= ~(1ull << (cpu % 64)); }
  unsigned count() const {
    unsigned n = 0;
    for (const uint64_t word : bits) n += static_cast<unsigned>(std::popcount(word));
    return n;
  }
  // The lowest CPU, or kMaxCpus if the set is empty.
  unsigned first() const {
    for (unsigned w = 0; w < kWords; ++w) {
      if (bits[w]) return w * 64 + static_cast<unsigned>(std::countr_zero(bits[w]));
    }
    return machine::kMaxCpus;
  }
  bool empty() const { return first() == machine::kMaxCpus; }

  friend CpuSet operator&(const CpuSet& a, const CpuSet& b) {
    CpuSet r;
    for (unsigned w = 0; w < kWords; ++w) r.bits[w] = a.bits[w] & b.bits[w];
    return r;
  }
  friend CpuSet operator|(const CpuSet& a, const CpuSet& b) {
    CpuSet r;
    for (unsigned w = 0; w < kWords; ++w) r.bits[w] = a.bits[w] | b.bits[w];
    return r;
  }
  // a without b
  friend CpuSet operator-(const CpuSet& a, const CpuSet& b) {
    CpuSet r;
    for (unsigned w = 0; w < kWords; ++w) r.bits[w] = a.bits[w] & ~b.bits[w];
    return r;
  }
};

}  // namespace sd::oracle
