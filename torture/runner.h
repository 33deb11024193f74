// Runs executions of one scenario on the machine of this process.
#pragma once

#include <cstdint>
#include <string>

#include "core/engine/chooser.h"
#include "core/machine/config.h"
#include "core/oracle/queue.h"
#include "torture/report.h"
#include "torture/scenario.h"
#include "torture/scf/scf.h"

namespace sd::torture {

struct Execution {
  machine::Outcome outcome;
  scf::ScfStats scf;
  oracle::IpiCounts ipis;
  std::string events;  // of a race: those around it; else empty
};

// One per process: the machine is. Registers the stack, the torture and the oracles when the first
// is made.
class Runner {
 public:
  explicit Runner(const Scenario& scenario);

  // One execution, with a chooser that begins anew from `seed`.
  Execution run(engine::Chooser& chooser, uint64_t seed, const ShownEvents& shown = {}) const;

 private:
  Scenario scenario_;
};

}  // namespace sd::torture
