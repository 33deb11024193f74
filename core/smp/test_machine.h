// For the tests of this folder: runs a function on a machine with the stack, under a strategy.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/engine/strategy.h"
#include "core/kernel/kthread.h"
#include "core/machine/machine.h"
#include "core/smp/csd_debug.h"
#include "core/smp/smp.h"
#include "core/smp/switches.h"

namespace sd::smp::testing {

using machine::Config;
using machine::Outcome;

// A check on the machine: ends the execution with a failure.
#define SD_EXPECT(condition) \
  ((condition) ? (void)0 : sd_fail("test", __func__, "line %d: %s", __LINE__, #condition))

inline void set_param(Config* config, Param param, int64_t value) {
  config->params[static_cast<unsigned>(param)] = value;
}

inline Config make_config(unsigned cpus, const series::PatchSet& patches) {
  Config config;
  config.cpus = cpus;
  config.patches = patches;
  set_param(&config, Param::csd_lock_timeout, 5000);
  set_param(&config, Param::ipi_mask_inlined, -1);
  set_param(&config, Param::idle_poll_percent, 50);
  return config;
}

inline Config make_config(unsigned cpus, const char* series = "merged") {
  return make_config(cpus, *series::find_set(series));
}

inline void set_bug(Config* config, Bug bug) {
  config->bugs |= bugs::bit(bug);
  config->patches = bugs::with_forced(config->patches, config->bugs);
}

inline std::string text_of(const Outcome& outcome) {
  return outcome.failure.id + "@" + outcome.failure.function + " on CPU " +
         std::to_string(outcome.failure.cpu) + ", task " + outcome.failure.task + ": " +
         outcome.failure.message + "\n" + outcome.failure.detail;
}

// Runs body() as the first task.
template <typename Body>
Outcome run_with(const Config& config, const std::string& strategy, uint64_t seed, Body body) {
  register_stack();
  std::string error;
  const std::unique_ptr<engine::Chooser> chooser = engine::make_strategy(strategy, &error);
  SD_CHECK(chooser != nullptr);
  chooser->begin(seed);
  return machine::run(
      config, *chooser, [](void* p) { (*static_cast<Body*>(p))(); }, &body);
}

template <typename Body>
void expect_clean_calm(const Config& config, Body body) {
  const Outcome outcome = run_with(config, "calm", 1, body);
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
}

// `seeds` executions of body, under a fresh strategy each; all must be clean.
template <typename Body>
void expect_clean(const Config& config, unsigned seeds, Body body) {
  static constexpr const char* kStrategies[] = {"random", "pct:3", "pos", "mix"};
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const char* strategy = kStrategies[seed % std::size(kStrategies)];
    const Outcome outcome = run_with(config, strategy, seed, body);
    ASSERT_FALSE(outcome.failed) << strategy << ", seed " << seed << ": " << text_of(outcome);
  }
}

// kthread_create() for tests that are not about forks that fail.
inline kernel::task_struct* create_thread(int (*fn)(void*), void* data, const char* name) {
  for (;;) {
    if (kernel::task_struct* task = kernel::kthread_create(fn, data, name)) return task;
  }
}

// A thread whose body lives on the stack of the test's task, until joined.
template <typename Body>
class Thread {
 public:
  explicit Thread(Body body, const char* name = "thread") : body_(std::move(body)) {
    task_ = create_thread(
        [](void* p) {
          static_cast<Thread*>(p)->body_();
          return 0;
        },
        this, name);
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  void start() { kernel::wake_up_process(task_); }
  void start_on(unsigned cpu) {
    kernel::kthread_bind(task_, cpu);
    start();
  }
  void join() { kernel::kthread_join(task_); }

 private:
  Body body_;
  kernel::task_struct* task_;
};

// Takes every CPU but the first down and up again, `rounds` times; ends with all CPUs online.
inline void plug_and_unplug(unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned cpu = 1; cpu < sd_nr_cpus(); ++cpu) {
      if (sd_cpu_down(cpu, __func__) == 0) {
        while (sd_cpu_up(cpu, __func__) != 0) kernel::schedule_timeout_interruptible(1);
      }
    }
  }
}

// What a function that is called across CPUs has seen.
struct Seen {
  kernel::atomic_t runs;
  kernel::atomic_t on_cpu[8];
};

inline void note(void* info) {
  auto* seen = static_cast<Seen*>(info);
  SD_EXPECT(irqs_disabled());
  kernel::atomic_inc(&seen->runs);
  kernel::atomic_inc(&seen->on_cpu[kernel::smp_processor_id()]);
}

inline int runs(const Seen& seen) {
  return kernel::atomic_read(&seen.runs);
}
inline int runs_on(const Seen& seen, unsigned cpu) {
  return kernel::atomic_read(&seen.on_cpu[cpu]);
}

inline cpumask mask_of(std::initializer_list<unsigned> cpus) {
  cpumask mask{};
  for (unsigned cpu : cpus) kernel::__cpumask_set_cpu(cpu, &mask);
  return mask;
}

}  // namespace sd::smp::testing
