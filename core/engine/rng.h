// SplitMix64: the one pseudo-random generator of the engine. Small state, any seed is good, and two
// streams whose seeds differ in one bit are unrelated (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace sd::engine {

class Rng {
 public:
  explicit Rng(uint64_t seed = 0) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // A number in [0, n), n > 0, by multiply-shift: no division, bias below 2^-32 for every n we use.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  uint64_t state_;
};

// The seed of execution `index` of a run: depends on both, and on nothing else.
inline uint64_t execution_seed(uint64_t run_seed, uint64_t index) {
  Rng rng(run_seed ^ (index * 0xd1342543de82ef95u + 1));
  return rng.next();
}

}  // namespace sd::engine
