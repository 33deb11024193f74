// smp_call_on_cpu, kick_all_cpus_sync, and the hotplug callbacks.
#include <cerrno>

#include "core/smp/smpcfd.h"
#include "core/smp/task_mask.h"
#include "core/smp/test_holder.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

int where(void* p) {
  SD_EXPECT(in_task() && !irqs_disabled() && sd_preempt_count() == 0);
  *static_cast<unsigned*>(p) = kernel::smp_processor_id();
  return 42;
}

TEST(SmpCallOnCpu, RunsInProcessContextOnTheCpu) {
  expect_clean_calm(make_config(3), [] {
    for (unsigned cpu = 0; cpu < 3; ++cpu) {
      unsigned ran_on = 99;
      SD_EXPECT(smp_call_on_cpu(cpu, where, &ran_on, false) == 42);
      SD_EXPECT(ran_on == cpu);
    }
    unsigned unchanged = 99;
    SD_EXPECT(smp_call_on_cpu(3, where, &unchanged, false) == -ENXIO);
    SD_EXPECT(sd_cpu_down(2, __func__) == 0);
    SD_EXPECT(smp_call_on_cpu(2, where, &unchanged, true) == -ENXIO);
    SD_EXPECT(unchanged == 99);
    SD_EXPECT(sd_cpu_up(2, __func__) == 0);
  });
}

TEST(SmpCallOnCpu, EndsWhateverTheCpuDoes) {
  expect_clean(make_config(3), 300, [] {
    Thread plugger([] { plug_and_unplug(1); });
    plugger.start();
    for (unsigned i = 0; i < 4; ++i) {
      unsigned ran_on = 99;
      const int ret = smp_call_on_cpu(i % 3, where, &ran_on, false);
      SD_EXPECT(ret == -ENXIO ? ran_on == 99 : ret == 42 && ran_on < 3);
    }
    plugger.join();
  });
}

TEST(KickAllCpusSync, EveryCpuHasBeenInterrupted) {
  expect_clean(make_config(3), 200, [] {
    // A CPU that reads the pointer with interrupts off keeps what it read until it has been kicked.
    int old_value = 1, new_value = 2;
    int* pointer = &old_value;
    bool reads_old[3] = {};
    Thread reader([&pointer, &old_value, &reads_old] {
      for (int i = 0; i < 3; ++i) {
        kernel::local_irq_disable();
        const bool old = READ_ONCE(pointer) == &old_value;
        const unsigned cpu = kernel::smp_processor_id();
        WRITE_ONCE(reads_old[cpu], old);
        WRITE_ONCE(reads_old[cpu], false);
        kernel::local_irq_enable();
      }
    });
    reader.start_on(1);
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    WRITE_ONCE(pointer, &new_value);
    kick_all_cpus_sync();
    SD_EXPECT(!READ_ONCE(reads_old[1]) && !READ_ONCE(reads_old[2]));
    reader.join();
  });
}

// ---- hotplug callbacks

class Smpcfd : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(EverySeries, Smpcfd,
                         ::testing::Values("base", "base-6.17", "posted", "merged"));

TEST_P(Smpcfd, CsdsLiveAsTheSeriesSays) {
  const bool forever = std::string(GetParam()) == "posted" || std::string(GetParam()) == "merged";
  expect_clean_calm(make_config(2, GetParam()), [forever] {
    call_function_data* cfd = per_cpu_ptr(cfd_data, 1);
    call_single_data_t* csd = cfd->csd;
    cpumask* mask = cfd->cpumask_work;
    SD_EXPECT(sd_alloc_is_live(csd, 1) && sd_alloc_is_live(mask, 1));
    SD_EXPECT(sd_cpu_down(1, __func__) == 0);
    SD_EXPECT(!sd_alloc_is_live(mask, 1));
    SD_EXPECT(sd_alloc_is_live(csd, 1) == forever);
    SD_EXPECT(sd_cpu_up(1, __func__) == 0);
    SD_EXPECT(sd_alloc_is_live(cfd->cpumask_work, 1) && sd_alloc_is_live(cfd->cpumask_ipi, 1));
    SD_EXPECT(sd_alloc_is_live(cfd->csd, 2 * sizeof(call_single_data_t)));
    SD_EXPECT(!forever || cfd->csd == csd);
  });
}

// Every allocation of the prepare step fails in turn; nothing is left of a failed one.
TEST_P(Smpcfd, AFailedPrepareIsUndone) {
  Config config = make_config(2, GetParam());
  config.alloc_fail = 2;
  unsigned refused = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Outcome outcome = run_with(config, "random", seed, [&refused] {
      call_function_data* cfd = per_cpu_ptr(cfd_data, 1);
      SD_EXPECT(sd_cpu_down(1, __func__) == 0);
      int err;
      while ((err = sd_cpu_up(1, __func__)) != 0) {
        SD_EXPECT(err == -ENOMEM);
        SD_EXPECT(!sd_alloc_is_live(cfd->cpumask_work, 1) || !cfd->cpumask_work);
        SD_EXPECT(!sd_alloc_is_live(cfd->cpumask_ipi, 1) || !cfd->cpumask_ipi);
        ++refused;
      }
      Seen seen{};
      on_each_cpu(note, &seen, true);
      SD_EXPECT(runs(seen) == 2);
    });
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
  }
  EXPECT_GT(refused, 20u);
}

// Failures injected at every state, rollback included, while calls go on.
TEST_P(Smpcfd, CallsSurviveFailuresOfHotplug) {
  for (bool preempt : {true, false}) {
    Config config = make_config(3, GetParam());
    config.preempt_full = preempt;
    config.hotplug_fail = 2;
    config.alloc_fail = 8;
    expect_clean(config, 200, [] {
      Thread plugger([] {
        for (unsigned cpu : {1u, 2u}) {
          sd_cpu_down(cpu, "plugger");
          while (sd_cpu_up(cpu, "plugger") != 0) kernel::schedule_timeout_interruptible(1);
        }
      });
      plugger.start();
      for (int i = 0; i < 3; ++i) {
        Seen seen{};
        on_each_cpu(note, &seen, true);
        const int ran = runs(seen);
        SD_EXPECT(ran >= 1 && ran <= 3);
        const int err = smp_call_function_single(1 + i % 2, note, &seen, true);
        SD_EXPECT(runs(seen) == ran + (err == 0 ? 1 : 0));
      }
      plugger.join();
    });
  }
}

// ---- task masks

TEST(TaskMask, IsInTheTaskOrOnTheHeapOrNowhere) {
  const auto mask_of_a_child = [](Config config, bool init) {
    cpumask* mask = nullptr;
    bool live = false, own = false;
    const Outcome outcome = run_with(config, "calm", 1, [&mask, &live, &own, init] {
      const auto look = [&mask, &live, &own] {
        mask = smp_task_ipi_mask(kernel::current());
        live = sd_alloc_is_live(mask, 8);
        const auto at = reinterpret_cast<uintptr_t>(mask);
        const auto storage = reinterpret_cast<uintptr_t>(sd_task_storage(kernel::current()));
        own = at >= storage && at < storage + sd_task_storage_bytes;
      };
      if (init) return look();
      Thread child(look);
      child.start();
      child.join();
    });
    EXPECT_FALSE(outcome.failed) << text_of(outcome);
    return mask == nullptr ? "none" : own ? "inline" : live ? "heap" : "dead";
  };
  Config config = make_config(2);
  EXPECT_STREQ(mask_of_a_child(config, false), "inline");
  EXPECT_STREQ(mask_of_a_child(make_config(65), false), "heap");
  set_param(&config, Param::ipi_mask_inlined, 0);
  EXPECT_STREQ(mask_of_a_child(config, false), "heap");
  EXPECT_STREQ(mask_of_a_child(config, true), "heap");
  set_param(&config, Param::maskless_init_task, 1);
  EXPECT_STREQ(mask_of_a_child(config, true), "none");
  EXPECT_STREQ(mask_of_a_child(config, false), "heap");
  config.preempt_full = false;
  EXPECT_STREQ(mask_of_a_child(config, false), "none");
  EXPECT_STREQ(mask_of_a_child(make_config(2, "base"), false), "none");
}

TEST(TaskMask, OfATaskThatTheMachineBootsIsLikeThatOfAny) {
  Config config = make_config(2);
  set_param(&config, Param::ipi_mask_inlined, 0);
  expect_clean_calm(config, [] {
    // swapper/0 is init_task, which no fork has made.
    SD_EXPECT(smp_task_ipi_mask(sd_idle_task(0)) == nullptr);
    SD_EXPECT(smp_task_ipi_mask(sd_idle_task(1)) != nullptr);
    sd_stop_machine(
        [](void*) {
          SD_EXPECT(smp_task_ipi_mask(kernel::current()) != nullptr);
          return 0;
        },
        nullptr, 1, __func__);
  });
}

TEST(TaskMask, AForkFailsWithoutMemoryForIt) {
  Config config = make_config(2);
  set_param(&config, Param::ipi_mask_inlined, 0);
  config.alloc_fail = 2;
  bool failed = false, succeeded = false;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Outcome outcome = run_with(config, "random", seed, [&failed, &succeeded] {
      kernel::task_struct* thread = kernel::kthread_run([](void*) { return 7; }, nullptr, "thread");
      (thread ? succeeded : failed) = true;
      SD_EXPECT(!thread || kernel::kthread_join(thread) == 7);
      // A worker is made some time later.
      SD_EXPECT(smp_call_on_cpu(
                    1, [](void*) { return 5; }, nullptr, false) == 5);
    });
    ASSERT_FALSE(outcome.failed) << text_of(outcome);
  }
  EXPECT_TRUE(failed);
  EXPECT_TRUE(succeeded);
}

// On a machine whose masks do not fit a word.
TEST(TaskMask, WorksOnALargeMachine) {
  for (const char* series : {"base", "posted", "merged"}) {
    expect_clean_calm(make_config(130, series), [] {
      kernel::atomic_t count{};
      on_each_cpu([](void* p) { kernel::atomic_inc(static_cast<kernel::atomic_t*>(p)); }, &count,
                  true);
      SD_EXPECT(kernel::atomic_read(&count) == 130);
    });
  }
}

}  // namespace
}  // namespace sd::smp
