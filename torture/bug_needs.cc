#include "torture/bug_needs.h"

#include <algorithm>

#include "core/kernel/param.h"

namespace sd::torture {

void meet_needs(Scenario& scenario, const bugs::BugInfo& bug) {
  using kernel::Param;
  const auto set = [&scenario](Param param, int64_t value) {
    scenario.machine.params[static_cast<size_t>(param)] = value;
  };
  const bugs::Needs& needs = bug.needs;
  scenario.machine.cpus = std::max(scenario.machine.cpus, needs.cpus);
  if (needs.lone) {
    scenario.machine.cpus = needs.cpus;
    scenario.machine.boot_cpus = 1;
  }
  if (needs.csdlock_debug) set(Param::csdlock_debug, 1);
  if (needs.allocated_masks) set(Param::ipi_mask_inlined, 0);
  if (needs.alloc_fail) scenario.machine.alloc_fail = 50;
  if (needs.cpus_read_lock) scenario.scf.use_cpus_read_lock = true;
  if (needs.global_queue) {
    // Its walkers have to stand still for two calls of one CPU: nothing but such
    // calls, and few CPUs.
    set(Param::global_call_queue, 1);
    scenario.machine.cpus = needs.cpus;
    scenario.scf.weights[static_cast<size_t>(scf::Prim::many)] = 2;
    scenario.scf.weights[static_cast<size_t>(scf::Prim::many_wait)] = 1;
    scenario.scf.ops = 8;
  }
  if (needs.irq_work_from_tick) set(Param::irq_work_from_tick, 1);
  if (needs.softirqs) scenario.scf.softirqs = 4;
  if (needs.swaps) scenario.scf.swaps = 2;
  if (needs.slow_handlers) {
    set(Param::csd_lock_timeout, 1);
    scenario.scf.longwait = 1;
  }
}

}  // namespace sd::torture
