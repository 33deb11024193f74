// cpumask of up to kNrCpus CPUs; operations look at the first nr_cpu_ids() bits only
// (small_cpumask_bits). In the kernel the words of a mask that others change are read without
// marking; here every read of a *source* mask of a bulk operation or test is a marked relaxed load,
// so that a concurrent change can fall between any two words and any two masks. Writes of the
// destination, and walks (for_each_cpu, cpumask_next), are plain: they are for masks that are
// private to their user.
#pragma once

#include "core/kernel/compiler.h"
#include "core/kernel/preempt.h"

namespace sd::kernel {

inline constexpr unsigned kNrCpus = 512;
inline constexpr unsigned kBitsPerLong = 64;

struct cpumask {
  uint64_t bits[kNrCpus / kBitsPerLong];
};

static inline unsigned cpumask_words() {
  return (nr_cpu_ids() + kBitsPerLong - 1) / kBitsPerLong;
}
static inline uint64_t cpumask_bit(unsigned cpu) {
  return 1ull << (cpu % kBitsPerLong);
}
static inline uint64_t cpumask_last_word_mask(unsigned word) {
  const unsigned in_word = nr_cpu_ids() - word * kBitsPerLong;
  return in_word >= kBitsPerLong ? ~0ull : (1ull << in_word) - 1;
}

// The system's masks.
static inline const cpumask* cpu_online_mask() {
  return reinterpret_cast<const cpumask*>(const_cast<uint64_t*>(sd_cpu_online_bits()));
}
static inline const cpumask* cpu_active_mask() {
  return reinterpret_cast<const cpumask*>(const_cast<uint64_t*>(sd_cpu_active_bits()));
}
static inline unsigned num_online_cpus() {
  return sd_num_online_cpus();
}

static inline uint64_t cpumask_read_word(const cpumask* m, unsigned word, const char* fn) {
  return load_marked(&m->bits[word], sd_relaxed, fn);
}
static inline bool cpumask_test_cpu(unsigned cpu, const cpumask* m,
                                    const char* fn = __builtin_FUNCTION()) {
  return (cpumask_read_word(m, cpu / kBitsPerLong, fn) & cpumask_bit(cpu)) != 0;
}
static inline bool cpu_online(unsigned cpu, const char* fn = __builtin_FUNCTION()) {
  return cpumask_test_cpu(cpu, cpu_online_mask(), fn);
}
static inline bool cpu_active(unsigned cpu, const char* fn = __builtin_FUNCTION()) {
  return cpumask_test_cpu(cpu, cpu_active_mask(), fn);
}
// set_bit/clear_bit: atomic, relaxed.
static inline void cpumask_set_cpu(unsigned cpu, cpumask* m,
                                   const char* fn = __builtin_FUNCTION()) {
  sd_rmw(&m->bits[cpu / kBitsPerLong], sd_or, cpumask_bit(cpu), 8, sd_relaxed, fn);
}
static inline void cpumask_clear_cpu(unsigned cpu, cpumask* m,
                                     const char* fn = __builtin_FUNCTION()) {
  sd_rmw(&m->bits[cpu / kBitsPerLong], sd_andnot, cpumask_bit(cpu), 8, sd_relaxed, fn);
}
// Atomic, fully ordered.
static inline bool cpumask_test_and_clear_cpu(unsigned cpu, cpumask* m,
                                              const char* fn = __builtin_FUNCTION()) {
  const uint64_t bit = cpumask_bit(cpu);
  return (sd_rmw(&m->bits[cpu / kBitsPerLong], sd_andnot, bit, 8, sd_full, fn) & bit) != 0;
}
// The non-atomic forms, for private masks.
static inline void __cpumask_set_cpu(unsigned cpu, cpumask* m) {
  m->bits[cpu / kBitsPerLong] |= cpumask_bit(cpu);
}
static inline void __cpumask_clear_cpu(unsigned cpu, cpumask* m) {
  m->bits[cpu / kBitsPerLong] &= ~cpumask_bit(cpu);
}
static inline void cpumask_clear(cpumask* m) {
  for (unsigned w = 0; w < cpumask_words(); ++w) m->bits[w] = 0;
}
static inline void cpumask_setall(cpumask* m) {
  for (unsigned w = 0; w < cpumask_words(); ++w) m->bits[w] = cpumask_last_word_mask(w);
}
static inline void cpumask_copy(cpumask* dst, const cpumask* src,
                                const char* fn = __builtin_FUNCTION()) {
  for (unsigned w = 0; w < cpumask_words(); ++w) dst->bits[w] = cpumask_read_word(src, w, fn);
}
// dst = a & b; returns whether any bit is set. Reads a before b, word by word.
static inline bool cpumask_and(cpumask* dst, const cpumask* a, const cpumask* b,
                               const char* fn = __builtin_FUNCTION()) {
  uint64_t any = 0;
  for (unsigned w = 0; w < cpumask_words(); ++w) {
    const uint64_t word = cpumask_read_word(a, w, fn);
    any |= dst->bits[w] = word & cpumask_read_word(b, w, fn);
  }
  return any != 0;
}

// Walks: plain reads.
static inline unsigned cpumask_next(int n, const cpumask* m) {
  unsigned cpu = static_cast<unsigned>(n + 1);
  while (cpu < nr_cpu_ids()) {
    const uint64_t rest = m->bits[cpu / kBitsPerLong] >> (cpu % kBitsPerLong);
    if (rest) {
      cpu += static_cast<unsigned>(std::countr_zero(rest));
      return cpu < nr_cpu_ids() ? cpu : nr_cpu_ids();
    }
    cpu = (cpu / kBitsPerLong + 1) * kBitsPerLong;
  }
  return nr_cpu_ids();
}
static inline unsigned cpumask_first(const cpumask* m) {
  return cpumask_next(-1, m);
}
static inline unsigned cpumask_weight(const cpumask* m) {
  unsigned weight = 0;
  for (unsigned w = 0; w < cpumask_words(); ++w)
    weight += static_cast<unsigned>(std::popcount(m->bits[w]));
  return weight;
}

// The first CPU of a & b other than `but` (nr_cpu_ids() or more: none excluded);
// nr_cpu_ids() if there is none.
static inline unsigned cpumask_any_and_but(const cpumask* a, const cpumask* b, unsigned but,
                                           const char* fn = __builtin_FUNCTION()) {
  for (unsigned w = 0; w < cpumask_words(); ++w) {
    uint64_t word = cpumask_read_word(a, w, fn);
    if (!word) continue;
    word &= cpumask_read_word(b, w, fn) & cpumask_last_word_mask(w);
    if (but / kBitsPerLong == w) word &= ~cpumask_bit(but);
    if (word) return w * kBitsPerLong + static_cast<unsigned>(std::countr_zero(word));
  }
  return nr_cpu_ids();
}
static inline unsigned cpumask_any_and(const cpumask* a, const cpumask* b,
                                       const char* fn = __builtin_FUNCTION()) {
  return cpumask_any_and_but(a, b, kNrCpus, fn);
}

}  // namespace sd::kernel

#define for_each_cpu(cpu, mask)                                                            \
  for (unsigned cpu = ::sd::kernel::cpumask_first(mask); cpu < ::sd::kernel::nr_cpu_ids(); \
       cpu = ::sd::kernel::cpumask_next(static_cast<int>(cpu), mask))
#define for_each_possible_cpu(cpu) for (unsigned cpu = 0; cpu < ::sd::kernel::nr_cpu_ids(); ++cpu)
