// How often functions ran because of calls, and how often they should have: by kind of call and by
// function. A count that owes nothing to the stack or to a torture, for whoever wants to compare
// (S-I55).
#pragma once

#include <array>
#include <cstdint>

#include "core/smp/trace.h"

namespace sd::oracle {

inline constexpr unsigned kCallKinds = 5;  // of smp::call_kind

class RunCounts {
 public:
  // By kind of call. `expected` and `refused` are of calls that have returned.
  std::array<uint64_t, kCallKinds> calls{};     // that have returned
  std::array<uint64_t, kCallKinds> refused{};   // of these, with an error
  std::array<uint64_t, kCallKinds> expected{};  // runs that they must come to
  std::array<uint64_t, kCallKinds> runs{};      // functions entered
  uint64_t unattributed = 0;                    // functions entered that belong to no known call

  // The same for one function, whatever the kind of call.
  uint64_t expected_runs_of(smp::smp_call_func_t func) const;
  uint64_t runs_of(smp::smp_call_func_t func) const;

  void count_run(smp::smp_call_func_t func) { ++function(func).runs; }
  void count_expected(smp::call_kind kind, smp::smp_call_func_t func, uint64_t n) {
    expected[static_cast<unsigned>(kind)] += n;
    function(func).expected += n;
  }

 private:
  struct Function {
    smp::smp_call_func_t func = nullptr;
    uint64_t expected = 0, runs = 0;
  };
  static constexpr unsigned kFunctions = 32;  // the last one stands for all further ones

  Function& function(smp::smp_call_func_t func);
  const Function* find(smp::smp_call_func_t func) const;

  std::array<Function, kFunctions> functions_{};
};

}  // namespace sd::oracle
