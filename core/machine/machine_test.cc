#include "core/machine/machine.h"

#include <gtest/gtest.h>

#include "core/machine/state.h"
#include "core/machine/test_stack.h"
#include "core/series/series.h"

namespace sd::machine {
namespace {

using testing::run_with;
using testing::small;
using testing::text_of;

const char* kStrategies[] = {"calm", "random", "pct:3", "pos", "mix"};

class EveryStrategy : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Machine, EveryStrategy, ::testing::ValuesIn(kStrategies));

TEST_P(EveryStrategy, AnEmptyTaskEnds) {
  const Outcome outcome = run_with(small(), GetParam(), 1, [](void*) {});
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
}

struct Shared {
  uint32_t counter = 0;
  uint32_t done = 0;
  sd_waitq queue{};
};

void count_twice(void* p) {
  auto* shared = static_cast<Shared*>(p);
  for (int i = 0; i < 2; ++i) sd_rmw(&shared->counter, sd_add, 1, 4, sd_full, "count");
  ++shared->done;
  sd_wake_one(&shared->queue);
}

void spawn_counters(void* p) {
  auto* shared = static_cast<Shared*>(p);
  for (unsigned i = 0; i < 4; ++i) {
    sd_task* task = sd_task_create(count_twice, shared, "counter");
    sd_task_bind(task, i % sd_nr_cpus(), "spawn");
    sd_task_wake(task, "spawn");
  }
  while (shared->done < 4) sd_block_on(&shared->queue, "spawn");
}

TEST_P(EveryStrategy, TasksRunOnAllCpusAndNoUpdateIsLost) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Shared shared;
    const Outcome outcome = run_with(small(3), GetParam(), seed, spawn_counters, &shared);
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
    ASSERT_EQ(shared.counter, 8u);
  }
}

TEST_P(EveryStrategy, TheSameSeedGivesTheSameHash) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Shared first, second;
    const Outcome a = run_with(small(3), GetParam(), seed, spawn_counters, &first);
    const Outcome b = run_with(small(3), GetParam(), seed, spawn_counters, &second);
    ASSERT_EQ(a.trace_hash, b.trace_hash) << "seed " << seed;
    ASSERT_EQ(a.steps, b.steps);
  }
}

void unplug_and_plug(void*) {
  for (int round = 0; round < 2; ++round) {
    for (unsigned cpu = 0; cpu < sd_nr_cpus(); ++cpu) {
      if (sd_cpu_down(cpu, "test") == 0) sd_cpu_up(cpu, "test");
    }
  }
}

TEST_P(EveryStrategy, CpusGoOfflineAndComeBack) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Outcome outcome = run_with(small(3), GetParam(), seed, unplug_and_plug);
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
    ASSERT_EQ(outcome.offlined, 6u);
    ASSERT_EQ(outcome.onlined, 6u);
  }
}

TEST_P(EveryStrategy, InjectedHotplugFailuresRollBack) {
  Config config = small(3);
  config.hotplug_fail = 2;
  uint64_t failures = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Outcome outcome = run_with(config, GetParam(), seed, [](void*) {
      for (unsigned cpu = 1; cpu < sd_nr_cpus(); ++cpu) {
        sd_cpu_down(cpu, "test");
        for (int i = 0; i < 100 && sd_cpuhp_get_state(cpu) != sd_cpuhp_online; ++i)
          sd_cpu_up(cpu, "test");
      }
    });
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
    failures += outcome.hotplug_failed;
  }
  if (std::string(GetParam()) != "calm") {
    EXPECT_GT(failures, 0u);
  }
}

TEST_P(EveryStrategy, StopMachineExcludesEverybody) {
  static bool inside = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Shared shared;
    const Outcome outcome = run_with(
        small(4), GetParam(), seed,
        [](void* p) {
          for (unsigned i = 0; i < 4; ++i) {
            sd_task* task = sd_task_create(
                [](void* q) {
                  auto* s = static_cast<Shared*>(q);
                  for (int k = 0; k < 20; ++k) {
                    sd_preempt_disable("busy");
                    if (inside)
                      sd_fail("overlap", "busy", "a task runs while the machine is stopped");
                    sd_preempt_enable("busy");
                  }
                  ++s->done;
                  sd_wake_one(&s->queue);
                },
                p, "busy");
            sd_task_bind(task, i, "spawn");
            sd_task_wake(task, "spawn");
          }
          sd_stop_machine(
              [](void*) {
                inside = true;
                for (int i = 0; i < 10; ++i) sd_fence(sd_mb, "stopped");
                inside = false;
                return 0;
              },
              nullptr, 1, "test");
          auto* s = static_cast<Shared*>(p);
          while (s->done < 4) sd_block_on(&s->queue, "wait");
        },
        &shared);
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
  }
}

TEST_P(EveryStrategy, AnInterruptIsTakenOnTheTargetOnce) {
  static unsigned taken;
  static unsigned taken_on;
  testing::on_vector = [](unsigned) {
    ++taken;
    taken_on = sd_this_cpu();
  };
  for (uint64_t seed = 0; seed < 50; ++seed) {
    taken = 0;
    const Outcome outcome = run_with(small(2), GetParam(), seed,
                                     [](void*) { sd_send_ipi(1, sd_vec_call_function, "test"); });
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
    ASSERT_EQ(taken, 1u);
    ASSERT_EQ(taken_on, 1u);
  }
  testing::on_vector = nullptr;
}

TEST_P(EveryStrategy, ASleeperWakesNotBeforeItsTime) {
  static uint64_t slept;
  const Outcome outcome = run_with(small(), GetParam(), 7, [](void*) {
    const uint64_t start = sd_clock_ns();
    sd_sleep_ns(5'000'000, "test");
    slept = sd_clock_ns() - start;
  });
  ASSERT_FALSE(outcome.failed) << text_of(outcome);
  EXPECT_GE(slept, 5'000'000u);
}

TEST_P(EveryStrategy, GracePeriodsWaitForReaders) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    struct State {
      void* object = nullptr;
      uint32_t done = 0;
      sd_waitq queue{};
    } state;
    const Outcome outcome = run_with(
        small(3), GetParam(), seed,
        [](void* p) {
          auto* s = static_cast<State*>(p);
          s->object = sd_alloc(8, "object", false, "test");
          sd_store(s->object, 1, 8, sd_relaxed, "test");
          for (unsigned i = 0; i < 2; ++i) {
            sd_task* reader = sd_task_create(
                [](void* q) {
                  auto* t = static_cast<State*>(q);
                  for (int k = 0; k < 3; ++k) {
                    sd_rcu_read_lock("reader");
                    void* object =
                        reinterpret_cast<void*>(sd_load(&t->object, 8, sd_acquire, "reader"));
                    if (object) sd_load(object, 8, sd_relaxed, "reader");
                    sd_rcu_read_unlock("reader");
                  }
                  ++t->done;
                  sd_wake_one(&t->queue);
                },
                p, "reader");
            sd_task_wake(reader, "test");
          }
          void* old = s->object;
          sd_store(&s->object, 0, 8, sd_release, "test");
          sd_synchronize_rcu("test");
          sd_free(old, "test");
          while (s->done < 2) sd_block_on(&s->queue, "test");
        },
        &state);
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
  }
}

// An idle loop that reads what may be freed, with interrupts off, as a function does
// that its flush runs.
void* volatile read_by_idle;

void reading_idle_loop(unsigned cpu) {
  while (!sd_machine_stopping()) {
    sd_local_irq_disable("reader");
    const uint64_t object = sd_load(&read_by_idle, 8, sd_acquire, "reader");
    if (object) sd_load(reinterpret_cast<void*>(object), 8, sd_relaxed, "reader");
    const bool resched =
        sd_load(sd_task_flags(sd_idle_task(cpu)), 4, sd_relaxed, "idle") & sd_tif_need_resched;
    if (resched) {
      sd_local_irq_enable("idle");
    } else if (!sd_idle_halt("idle")) {
      return;
    }
    sd_schedule_idle("idle");
  }
}

TEST_P(EveryStrategy, GracePeriodsWaitForIdleTasksThatRead) {
  testing::install();
  sd_stack_ops ops = Machine::get().ops_;
  ops.idle_loop = reading_idle_loop;
  std::string error;
  const std::unique_ptr<engine::Chooser> chooser = engine::make_strategy(GetParam(), &error);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    sd_register_stack(&ops);
    chooser->begin(seed);
    const Outcome outcome = run(
        small(3), *chooser,
        [](void*) {
          void* object = sd_alloc(8, "object", false, "test");
          sd_store(object, 1, 8, sd_relaxed, "test");
          sd_store(&read_by_idle, reinterpret_cast<uintptr_t>(object), 8, sd_release, "test");
          for (unsigned cpu = 1; cpu < sd_nr_cpus(); ++cpu)
            sd_send_ipi(cpu, sd_vec_reschedule, "test");
          sd_store(&read_by_idle, 0, 8, sd_release, "test");
          sd_synchronize_rcu("test");
          sd_free(object, "test");
        },
        nullptr);
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
  }
}

// Without preemption, a task that waits for another one on its CPU needs no more
// than cond_resched().
TEST_P(EveryStrategy, CondReschedGivesWayToATaskThatWaited) {
  Config config = small(1);
  config.preempt_full = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = run_with(config, GetParam(), seed, [](void*) {
      static bool done;
      static sd_waitq queue;
      done = false;
      queue = {};
      const auto start = [](void (*entry)(void*)) {
        sd_task_wake(sd_task_create(entry, nullptr, "task"), "test");
      };
      start([](void*) {
        while (!done) sd_cond_resched("waiter");
        sd_wake_one(&queue);
      });
      start([](void*) { done = true; });
      sd_block_on(&queue, "test");
    });
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
  }
}

// A polling context gives way to whoever it polls for, under calm choices too: an empty choice
// list, or a recording that has run out, is a legal run.
void poll_for_a_task_that_waits_behind(void*) {
  static uint32_t word;
  word = 0;
  sd_task* poller = sd_task_create(
      [](void*) {
        while (sd_load(&word, 4, sd_acquire, "poller") == 0)
          sd_wait_change(&word, 0, 4, 0, "poller");
      },
      nullptr, "poller");
  sd_task_bind(poller, 0, "test");
  sd_task_wake(poller, "test");
  sd_yield("test");  // this task may migrate now, and need not
  sd_store(&word, 1, 4, sd_release, "test");
}

TEST_P(EveryStrategy, APollerGivesWayToTheTaskItPollsFor) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Outcome outcome = run_with(small(2), GetParam(), seed, poll_for_a_task_that_waits_behind);
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
  }
}

void poll_for_a_task_that_sleeps(void*) {
  static uint32_t word;
  word = 0;
  for (unsigned i = 0; i < 2; ++i) {
    sd_task* poller = sd_task_create(
        [](void*) {
          while (sd_load(&word, 4, sd_acquire, "poller") == 0)
            sd_wait_change(&word, 0, 4, 0, "poller");
        },
        nullptr, "poller");
    sd_task_bind(poller, 0, "test");
    sd_task_wake(poller, "test");
  }
  sd_sleep_ns(1'000'000, "test");
  sd_store(&word, 1, 4, sd_release, "test");
}

TEST_P(EveryStrategy, PollersThatShareACpuDoNotKeepTimersFromFiring) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Outcome outcome = run_with(small(2), GetParam(), seed, poll_for_a_task_that_sleeps);
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
  }
}

TEST(MachineTimer, ASleepIsNotEndedByTheTimerOfAnEarlierOne) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Outcome outcome = run_with(small(2), "random", seed, [](void*) {
      static sd_task* sleeper;
      sleeper = sd_task_create(
          [](void*) {
            sd_sleep_ns(1'000'000, "sleeper");
            const uint64_t start = sd_clock_ns();
            const uint64_t left = sd_sleep_ns(5'000'000, "sleeper");
            if (left == 0 && sd_clock_ns() - start < 5'000'000) {
              sd_fail("early", "sleeper", "a sleep of 5 ms was over after %llu ns",
                      static_cast<unsigned long long>(sd_clock_ns() - start));
            }
          },
          nullptr, "sleeper");
      sd_task_wake(sleeper, "test");
      for (int i = 0; i < 10; ++i) sd_yield("test");
      sd_sleep_ns(999'000, "test");
      sd_task_wake(sleeper, "test");
    });
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
  }
}

// An interrupt that was sent before its CPU went offline: taken before, or after if the interrupt
// controller keeps it, or lost. What the CPU is sent while its controller is off is lost as well.
TEST(MachineOffline, AnInterruptOnItsWayIsTakenLateOrLost) {
  static unsigned online, offline;
  unsigned early = 0, late = 0, lost = 0, kept = 0, dropped = 0;
  testing::on_vector = [](unsigned vector) {
    if (vector == sd_vec_call_function) ++(Machine::get().online(sd_this_cpu()) ? online : offline);
  };
  static bool pending;
  sd_cpuhp_setup_state(sd_cpuhp_ap_tick_dying, nullptr, [](unsigned cpu) {
    sd_send_ipi(cpu, sd_vec_irq_work, "test");
    pending = sd_ipi_pending(cpu, sd_vec_irq_work);
    return 0;
  });
  for (uint64_t seed = 0; seed < 400; ++seed) {
    online = offline = 0;
    const Outcome outcome = run_with(small(2), "pct:3", seed, [](void*) {
      sd_task_bind(sd_current(), 0, "test");
      sd_send_ipi(1, sd_vec_call_function, "test");
      sd_cpu_down(1, "test");
    });
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
    ASSERT_LE(online + offline, 1u);
    early += online;
    late += offline;
    lost += online + offline == 0;
    ++(pending ? kept : dropped);
    ASSERT_TRUE(pending || offline == 0);
  }
  sd_cpuhp_setup_state(sd_cpuhp_ap_tick_dying, nullptr, nullptr);
  testing::on_vector = nullptr;
  EXPECT_GT(early, 0u);
  EXPECT_GT(late, 0u);
  EXPECT_GT(lost, 0u);
  EXPECT_GT(kept, 0u);
  EXPECT_GT(dropped, 0u);
}

// What a third CPU was sent may arrive after the other is offline: with P05, nothing that it stands
// for is freed then. Without, the csds of the CPU that goes down are.
TEST(MachineOffline, InterruptsOfOtherCpusAreLateOnlyWhereCsdsOutliveTheirCpu) {
  static unsigned late;
  testing::on_vector = [](unsigned) { late += !Machine::get().online(1); };
  for (const bool p05 : {false, true}) {
    Config config = small(3);
    config.patches[static_cast<unsigned>(series::Patch::p05)] = p05;
    late = 0;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      const Outcome outcome = run_with(config, "pct:3", seed, [](void*) {
        sd_task_bind(sd_current(), 0, "test");
        sd_send_ipi(2, sd_vec_call_function, "test");
        sd_cpu_down(1, "test");
      });
      ASSERT_FALSE(outcome.failed) << text_of(outcome);
    }
    EXPECT_EQ(late > 0, p05);
  }
  testing::on_vector = nullptr;
}

// The bit says which way a CPU goes, when an operation rolls back too; and stays set
// while it is offline.
TEST(MachineOffline, ACpuIsDyingWhileItGoesDown) {
  const auto is_dying = [](unsigned cpu) { return Machine::bit(sd_cpu_dying_bits(), cpu); };
  static unsigned ups, downs;
  ups = downs = 0;
  for (const sd_cpuhp_state state : {sd_cpuhp_ap_online_dyn, sd_cpuhp_rcutree_prep}) {
    sd_cpuhp_setup_state(
        state,
        [](unsigned cpu) {
          ++ups;
          if (Machine::bit(sd_cpu_dying_bits(), cpu)) sd_fail("dying", "startup", "CPU %u", cpu);
          return 0;
        },
        [](unsigned cpu) {
          ++downs;
          if (!Machine::bit(sd_cpu_dying_bits(), cpu))
            sd_fail("not-dying", "teardown", "CPU %u", cpu);
          return 0;
        });
  }
  Config config = small(2);
  config.hotplug_fail = 2;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Outcome outcome = run_with(config, "random", seed, [](void*) {
      for (int i = 0; i < 4; ++i) {
        if (sd_cpu_down(1, "test") == 0) sd_cpu_up(1, "test");
      }
    });
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
    ASSERT_EQ(is_dying(1), !Machine::get().online(1)) << "seed " << seed;
  }
  for (const sd_cpuhp_state state : {sd_cpuhp_ap_online_dyn, sd_cpuhp_rcutree_prep}) {
    sd_cpuhp_setup_state(state, nullptr, nullptr);
  }
  EXPECT_GT(ups, 0u);
  EXPECT_GT(downs, 0u);
}

// Where a woken task goes is one question, whichever way the wake-up takes.
TEST(MachineWake, TheCpuOfAWokenTaskIsDrawnOnce) {
  struct Counting : engine::Chooser {
    void begin(uint64_t) override {}
    uint32_t pick(const engine::ActionSet&) override { return 0; }
    uint32_t number(uint32_t, engine::Purpose purpose) override {
      drawn += purpose == engine::Purpose::wake_cpu;
      return 0;
    }
    const char* description() const override { return "counting"; }
    unsigned drawn = 0;
  } chooser;
  testing::install();
  sd_stack_ops ops = Machine::get().ops_;
  ops.ttwu_queue = [](sd_task*, unsigned) { return false; };
  sd_register_stack(&ops);
  const Outcome outcome = run(
      small(2), chooser,
      [](void*) {
        static sd_waitq queue;
        queue = {};
        sd_task_wake(
            sd_task_create([](void*) { sd_block_on(&queue, "sleeper"); }, nullptr, "sleeper"),
            "test");
        while (!queue.head) sd_yield("test");
        static_cast<Counting*>(Machine::get().chooser_)->drawn = 0;
        sd_wake_one(&queue);
      },
      nullptr);
  ASSERT_FALSE(outcome.failed) << text_of(outcome);
  EXPECT_EQ(chooser.drawn, 1u);
}

// A task is preempted while it polls with a deadline. Whoever runs in its place has other business.
TEST(MachineTime, ADeadlineOfAPreemptedTaskDoesNotMoveTheClockOfItsCpu) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Outcome outcome = run_with(small(2), "random", seed, [](void*) {
      static uint32_t word;
      word = 0;
      const auto start = [](void (*entry)(void*)) {
        sd_task* task = sd_task_create(entry, nullptr, "task");
        sd_task_bind(task, 1, "test");
        sd_task_wake(task, "test");
      };
      start([](void*) { sd_wait_change(&word, 0, 4, sd_clock_ns() + 10'000'000, "poller"); });
      start([](void*) {
        for (int round = 0; round < 5; ++round) {
          sd_preempt_disable("busy");
          const uint64_t begin = sd_clock_ns();
          for (int i = 0; i < 10; ++i) sd_fence(sd_mb, "busy");
          if (sd_clock_ns() - begin > 1'000'000) sd_fail("jump", "busy", "the clock jumped");
          sd_preempt_enable("busy");
        }
      });
    });
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
  }
}

TEST(MachineTime, ACpuThatIsBroughtUpIsNotBehindWhoeverDoesSo) {
  static uint64_t started_ns;
  sd_cpuhp_setup_state(
      sd_cpuhp_ap_tick_dying,
      [](unsigned) {
        started_ns = sd_clock_ns();
        return 0;
      },
      nullptr);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = run_with(small(2), "random", seed, [](void*) {
      sd_cpu_down(1, "test");
      sd_sleep_ns(5'000'000, "test");
      const uint64_t begin = sd_clock_ns();
      sd_cpu_up(1, "test");
      if (started_ns < begin) sd_fail("behind", "test", "the CPU starts before it is started");
    });
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
  }
  sd_cpuhp_setup_state(sd_cpuhp_ap_tick_dying, nullptr, nullptr);
}

TEST(MachineTime, AStopperOfABusyCpuIsNotBehindWhoeverWakesIt) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = run_with(small(2), "random", seed, [](void*) {
      static bool done;
      static uint64_t stopped_ns;
      done = false;
      sd_task* busy = sd_task_create(
          [](void*) {
            while (!done) sd_cpu_relax("busy");
          },
          nullptr, "busy");
      sd_task_bind(busy, 1, "test");
      sd_task_wake(busy, "test");
      sd_task_bind(sd_current(), 0, "test");
      sd_sleep_ns(50'000'000, "test");
      const uint64_t begin = sd_clock_ns();
      sd_stop_machine(
          [](void*) {
            stopped_ns = sd_clock_ns();
            return 0;
          },
          nullptr, 1, "test");
      if (stopped_ns < begin) sd_fail("behind", "test", "the stopper runs before it is woken");
      done = true;
    });
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
  }
}

TEST(MachineFailure, AnExecutionAfterAFailedOneIsClean) {
  for (int i = 0; i < 20; ++i) {
    run_with(small(), "random", 1, [](void*) { sd_fail("test", "test", "planned"); });
    Shared shared;
    const Outcome outcome = run_with(small(3), "random", 5, spawn_counters, &shared);
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
  }
}

TEST(MachineCost, ARemoteLineCostsMoreThanAnOwnOne) {
  static uint64_t own, remote;
  Config config = small(16);
  config.nodes = 2;
  const Outcome outcome = run_with(config, "calm", 0, [](void*) {
    static void* p;
    p = sd_alloc(64, "line", false, "test");
    sd_store(p, 1, 8, sd_relaxed, "test");
    uint64_t t = sd_clock_ns();
    sd_load(p, 8, sd_relaxed, "test");
    own = sd_clock_ns() - t;
    sd_task_bind(sd_current(), 15, "test");
    t = sd_clock_ns();
    sd_load(p, 8, sd_relaxed, "test");
    remote = sd_clock_ns() - t;
  });
  ASSERT_FALSE(outcome.failed) << text_of(outcome);
  EXPECT_EQ(own, 1u);
  EXPECT_EQ(remote, 130u);
}

TEST(MachineScale, ABigMachineBootsAndUnplugs) {
  const Outcome outcome = run_with(small(512), "random", 3, [](void*) {
    sd_cpu_down(511, "test");
    sd_cpu_down(0, "test");
    sd_cpu_up(511, "test");
  });
  ASSERT_FALSE(outcome.failed) << text_of(outcome);
  EXPECT_EQ(outcome.offlined, 2u);
}

}  // namespace
}  // namespace sd::machine
