// Each kind of failure that the machine itself sees, provoked.

#include <gtest/gtest.h>

#include "core/machine/machine.h"
#include "core/machine/state.h"
#include "core/machine/test_stack.h"

namespace sd::machine {
namespace {

using testing::run_with;
using testing::small;
using testing::text_of;

TEST(MachineFailure, ABlockedTaskThatNobodyWakesIsAHang) {
  const Outcome outcome = run_with(small(), "random", 1, [](void*) {
    static sd_waitq queue;
    queue = {};
    sd_block_on(&queue, "wait_for_nothing");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.kind, engine::FailureKind::hang);
  EXPECT_EQ(outcome.failure.function, "wait_for_nothing");
  EXPECT_NE(outcome.failure.detail.find("init (CPU"), std::string::npos) << outcome.failure.detail;
}

TEST(MachineFailure, PollingForWhatNeverChangesIsAHangNotALivelock) {
  const Outcome outcome = run_with(small(), "random", 1, [](void*) {
    static uint32_t word;
    word = 0;
    sd_wait_change(&word, 0, 4, 0, "poll_for_nothing");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.kind, engine::FailureKind::hang);
  EXPECT_EQ(outcome.failure.function, "poll_for_nothing");
}

TEST(MachineFailure, PollingWithADeadlineThatNeverHelpsIsAHang) {
  const Outcome outcome = run_with(small(), "random", 1, [](void*) {
    static uint32_t word;
    word = 0;
    for (;;) sd_wait_change(&word, 0, 4, sd_clock_ns() + 1'000'000'000, "poll");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.kind, engine::FailureKind::hang);
}

TEST(MachineFailure, TasksThatAreOnlyMovedAboutAndNeverRunAreAHang) {
  const Outcome outcome = run_with(small(3), "random", 1, [](void*) {
    // Whoever stops the machine never comes back, so the other task can move but not run.
    sd_task_wake(sd_task_create([](void*) { sd_yield("mover"); }, nullptr, "mover"), "test");
    sd_stop_machine(
        [](void*) {
          static uint32_t word;
          word = 0;
          sd_wait_change(&word, 0, 4, 0, "stopped_for_ever");
          return 0;
        },
        nullptr, 1, "test");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.kind, engine::FailureKind::hang) << text_of(outcome);
}

TEST(MachineFailure, RunningForEverIsALivelock) {
  Config config = small();
  config.step_bound = 10'000;
  const Outcome outcome = run_with(config, "random", 1, [](void*) {
    for (;;) sd_cpu_relax("spin");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.kind, engine::FailureKind::livelock);
}

TEST(MachineFailure, AMarkedAccessToFreedMemoryNamesBothStacks) {
  const Outcome outcome = run_with(small(), "random", 1, [](void*) {
    void* p = sd_alloc(64, "thing", false, "maker");
    sd_free(p, "killer");
    sd_load(static_cast<char*>(p) + 8, 4, sd_relaxed, "user");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.id, "use-after-free");
  EXPECT_EQ(outcome.failure.function, "user");
  EXPECT_NE(outcome.failure.message.find("heap:thing#0+8"), std::string::npos)
      << outcome.failure.message;
  EXPECT_NE(outcome.failure.detail.find("allocated by maker"), std::string::npos);
  EXPECT_NE(outcome.failure.detail.find("freed by killer"), std::string::npos);
}

TEST(MachineFailure, FreeingTwiceAndFreeingWhatIsNoObjectAreSeen) {
  Outcome outcome = run_with(small(), "random", 1, [](void*) {
    void* p = sd_alloc(64, "thing", false, "maker");
    sd_free(p, "killer");
    sd_free(p, "killer_again");
  });
  EXPECT_EQ(outcome.failure.id, "double-free");
  EXPECT_EQ(outcome.failure.function, "killer_again");
  outcome = run_with(small(), "random", 1, [](void*) {
    auto* p = static_cast<char*>(sd_alloc(64, "thing", false, "maker"));
    sd_free(p + 8, "killer");
  });
  EXPECT_EQ(outcome.failure.id, "wild-free");
}

#if !defined(SD_ASAN) && !defined(SD_TSAN)
TEST(MachineFailure, APlainStoreToFreedMemoryIsSeenAtTheEnd) {
  const Outcome outcome = run_with(small(), "random", 1, [](void*) {
    auto* p = static_cast<volatile char*>(sd_alloc(64, "thing", false, "maker"));
    sd_free(const_cast<char*>(p), "killer");
    p[5] = 1;
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.id, "heap-corruption");
}
#endif

TEST(MachineFailure, PollingMemoryThatIsFreedMeanwhileIsAUseAfterFree) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = run_with(small(2), "random", seed, [](void*) {
      static uint32_t* word;
      word = static_cast<uint32_t*>(sd_alloc(4, "flag", false, "test"));
      sd_store(word, 1, 4, sd_relaxed, "test");
      sd_task_wake(sd_task_create(
                       [](void*) {
                         while (sd_load(word, 4, sd_relaxed, "poller") == 1)
                           sd_wait_change(word, 1, 4, 0, "poller");
                       },
                       nullptr, "poller"),
                   "test");
      for (int i = 0; i < 5; ++i) sd_yield("test");
      sd_free(word, "test");
    });
    ASSERT_TRUE(outcome.failed);
    ASSERT_EQ(outcome.failure.id, "use-after-free") << text_of(outcome);
  }
}

TEST(MachineFailure, ADaemonThatPollsForEverIsAHang) {
  const Outcome outcome = run_with(small(2), "random", 1, [](void*) {
    static uint32_t word;
    word = 0;
    sd_task* worker = sd_task_create([](void*) { sd_wait_change(&word, 0, 4, 0, "stuck_worker"); },
                                     nullptr, "worker");
    sd_task_set_daemon(worker);
    sd_task_wake(worker, "test");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.kind, engine::FailureKind::hang);
  EXPECT_EQ(outcome.failure.function, "stuck_worker");
}

TEST(MachineFailure, ADeadCpuThatIsNotIdleDeadIsABug) {
  testing::install();
  sd_stack_ops ops = Machine::get().ops_;
  ops.idle_loop = [](unsigned cpu) {
    while (!sd_machine_stopping()) {
      if (!Machine::get().online(cpu)) {
        sd_local_irq_disable("idle");
        sd_cpuhp_dead_reported(cpu);
        return sd_cpu_dead();
      }
      sd_local_irq_disable("idle");
      if (*sd_task_flags(sd_idle_task(cpu)) & sd_tif_need_resched) {
        sd_local_irq_enable("idle");
      } else if (!sd_idle_halt("idle")) {
        return;
      }
      sd_schedule_idle("idle");
    }
  };
  sd_register_stack(&ops);
  const std::unique_ptr<engine::Chooser> chooser = engine::make_strategy("calm", nullptr);
  chooser->begin(1);
  const Outcome outcome = run(
      small(2), *chooser, [](void*) { sd_cpu_down(1, "test"); }, nullptr);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.id, "BUG");
  EXPECT_EQ(outcome.failure.function, "takedown_cpu");
}

TEST(MachineFailure, SleepingWithPreemptionOffIsABug) {
  const Outcome outcome = run_with(small(), "random", 1, [](void*) {
    sd_preempt_disable("test");
    sd_sleep_ns(1000, "sleeper");
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.kind, engine::FailureKind::bug);
  EXPECT_EQ(outcome.failure.id, "scheduling-while-atomic");
}

// Each way to be in a context that may not sleep, and each thing that might.
TEST(MachineFailure, WhatMightSleepIsABugWhereNothingMay) {
  static void (*enter)();
  static void (*sleep)();
  const struct {
    void (*enter)();
    const char* why;
  } contexts[] = {
      {[] { sd_preempt_disable("test"); }, "with preemption disabled"},
      {[] { sd_local_irq_disable("test"); }, "with interrupts disabled"},
      {[] { sd_rcu_read_lock("test"); }, "inside rcu_read_lock()"},
  };
  void (*const sleeps[])() = {
      [] { sd_might_sleep("test"); },     [] { sd_cond_resched("test"); },
      [] { sd_yield("test"); },           [] { sd_sleep_ns(1, "test"); },
      [] { sd_synchronize_rcu("test"); }, [] { sd_cpus_read_lock("test"); },
      [] { sd_cpu_up(0, "test"); },       [] { sd_task_create([](void*) {}, nullptr, "task"); },
  };
  for (const auto& context : contexts) {
    enter = context.enter;
    for (size_t i = 0; i < std::size(sleeps); ++i) {
      sleep = sleeps[i];
      const Outcome outcome = run_with(small(), "calm", 1, [](void*) {
        enter();
        sleep();
      });
      ASSERT_TRUE(outcome.failed) << context.why << ", " << i;
      EXPECT_TRUE(outcome.failure.id == "sleep-in-atomic" ||
                  outcome.failure.id == "scheduling-while-atomic");
      EXPECT_NE(outcome.failure.message.find(context.why), std::string::npos) << text_of(outcome);
    }
  }
  enter = [] {};
  for (const auto& can_sleep : sleeps) {
    sleep = can_sleep;
    const Outcome outcome = run_with(small(), "calm", 1, [](void*) { sleep(); });
    EXPECT_FALSE(outcome.failed) << text_of(outcome);
  }
}

}  // namespace
}  // namespace sd::machine
