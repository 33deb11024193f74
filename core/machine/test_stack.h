// The smallest stack that a machine can run: an idle loop, and vectors that call a
// function the test sets.
#pragma once

#include <memory>
#include <string>

#include "core/engine/strategy.h"
#include "core/machine/machine.h"

namespace sd::machine::testing {

inline void (*on_vector)(unsigned vector) = nullptr;

inline void idle_loop(unsigned cpu) {
  sd_task* idle = sd_idle_task(cpu);
  while (!sd_machine_stopping()) {
    sd_local_irq_disable("do_idle");
    const uint64_t online = sd_load(sd_cpu_online_bits() + cpu / 64, 8, sd_relaxed, "do_idle");
    if (!((online >> (cpu % 64)) & 1)) {
      sd_cpuhp_idle_dead();
      sd_cpuhp_dead_reported(cpu);
      return sd_cpu_dead();
    }
    if (sd_load(sd_task_flags(idle), 4, sd_relaxed, "do_idle") & sd_tif_need_resched) {
      sd_local_irq_enable("do_idle");
    } else if (!sd_idle_halt("do_idle")) {
      return;
    }
    sd_schedule_idle("do_idle");
  }
}

inline void install() {
  sd_stack_ops ops{};
  ops.idle_loop = idle_loop;
  ops.handle_vector = [](unsigned vector) {
    if (on_vector) on_vector(vector);
  };
  sd_register_stack(&ops);
}

inline Config small(unsigned cpus = 2) {
  Config config;
  config.cpus = cpus;
  return config;
}

inline std::string text_of(const Outcome& outcome) {
  return outcome.failure.id + ": " + outcome.failure.message + "\n" + outcome.failure.detail;
}

// Runs `entry` on a machine under `strategy`.
inline Outcome run_with(const Config& config, const char* strategy, uint64_t seed,
                        void (*entry)(void*), void* arg = nullptr) {
  install();
  std::string error;
  std::unique_ptr<engine::Chooser> chooser = engine::make_strategy(strategy, &error);
  SD_CHECK(chooser != nullptr);
  chooser->begin(seed);
  return run(config, *chooser, entry, arg);
}

}  // namespace sd::machine::testing
