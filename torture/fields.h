// The numbers of a scenario as a table: name, limits, meaning. One entry makes an option, a kernel
// style parameter and a line of a replay file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "torture/scenario.h"

namespace sd::torture {

struct Field {
  enum class Form : uint8_t {
    own,         // --cpus 4
    boot,        // also csdlock_debug=1
    smp,         // also smp.csd_lock_timeout=5000
    scftorture,  // also scftorture.nthreads=3
    torture,     // also torture.random_shuffle=1
  };

  std::string name;  // "nthreads": option --nthreads, key of a replay file
  Form form = Form::own;
  bool boolean = false;
  // Limits are such that no file makes the tool run for ever or out of memory.
  int64_t min = 0;
  int64_t max = 0;
  std::string help;  // of a boolean that can only be 0: why
  std::function<int64_t(const Scenario&)> get;
  std::function<void(Scenario&, int64_t)> set;

  std::string expected() const;  // "a number from 1 to 512"
  // usage_error() "'x' is not a number from 1 to 512".
  void parse(Scenario& scenario, const std::string& text) const;
  std::string text(const Scenario& scenario) const { return std::to_string(get(scenario)); }
  // How the kernel spells it: "scftorture.nthreads"; "" for our own.
  std::string kernel_name() const;
};

const std::vector<Field>& fields();

}  // namespace sd::torture
