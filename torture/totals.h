// Sums over executions: what workers publish while they run, and what status lines, verdict and
// summary are made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "torture/scf/scf.h"

namespace sd::torture {

struct Totals {
  uint64_t executions = 0;
  uint64_t steps = 0;
  uint64_t choices = 0;
  uint64_t virtual_ns = 0;
  uint64_t failures = 0;  // executions that failed
  // The sum of the trace hashes: whatever the number of workers, two runs of the same executions
  // have the same, or something other than the choices has decided.
  uint64_t trace_hash = 0;
  uint64_t ipis = 0;              // for calls
  uint64_t superfluous_ipis = 0;  // of these, to a CPU whose queue was not found empty
  scf::ScfStats scf;

  void add(const Totals& other);
};

// Totals in memory that is shared with another process: one writer, which may die at any moment,
// and any number of readers (a seqlock).
class TotalsPage {
 public:
  void publish(const Totals& totals);
  // False, leaving *totals alone, if the writer is (or died) in the middle of publishing.
  bool read(Totals* totals) const;

 private:
  static constexpr size_t kWords = sizeof(Totals) / sizeof(uint64_t);
  static_assert(sizeof(Totals) % sizeof(uint64_t) == 0);
  static_assert(std::is_trivially_copyable_v<Totals>);

  std::atomic<uint32_t> version_ = 0;  // odd: being written
  std::atomic<uint64_t> words_[kWords] = {};
};

}  // namespace sd::torture
