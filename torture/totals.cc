#include "torture/totals.h"

#include "torture/scf/stats_line.h"

namespace sd::torture {

void Totals::add(const Totals& other) {
  executions += other.executions;
  steps += other.steps;
  choices += other.choices;
  virtual_ns += other.virtual_ns;
  failures += other.failures;
  trace_hash += other.trace_hash;
  ipis += other.ipis;
  superfluous_ipis += other.superfluous_ipis;
  scf += other.scf;
}

void TotalsPage::publish(const Totals& totals) {
  uint64_t words[kWords];
  std::memcpy(words, &totals, sizeof(totals));
  const uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (size_t i = 0; i < kWords; i++) words_[i].store(words[i], std::memory_order_relaxed);
  version_.store(version + 2, std::memory_order_release);
}

bool TotalsPage::read(Totals* totals) const {
  constexpr int kTries = 1000;  // publishing takes about 100 ns
  for (int i = 0; i < kTries; i++) {
    uint64_t words[kWords];
    const uint32_t before = version_.load(std::memory_order_acquire);
    for (size_t j = 0; j < kWords; j++) words[j] = words_[j].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 1 || version_.load(std::memory_order_relaxed) != before) continue;
    std::memcpy(static_cast<void*>(totals), words, sizeof(words));
    return true;
  }
  return false;
}

}  // namespace sd::torture
