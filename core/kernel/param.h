// Boot and module parameters of the modelled kernel that a scenario may set.
#pragma once

#include <cstdint>

namespace sd::kernel {

enum class Param : uint8_t {
  csdlock_debug,       // csdlock_debug=: 0 off, else on
  csd_lock_timeout,    // smp.csd_lock_timeout=, ms, default 5000, 0 = never complain
  panic_on_ipistall,   // smp.panic_on_ipistall=, ms, default 0 = never
  ipi_mask_inlined,    // task masks: 1 in a word, 0 allocated, -1: in a word if nr_cpus <= 64
  maskless_init_task,  // 1: the task that plays init_task has no mask (allocated masks only)
  idle_poll_percent,   // how often (of 100) an idle CPU may be made to poll; 0: always halts
  irq_work_from_tick,  // 1: no interrupt for irq_work: works run from the tick, who syncs sleeps
  global_call_queue,   // 1: smp_call_function_many() as in 2.6.38, by one queue for all CPUs
  count_
};

}  // namespace sd::kernel
