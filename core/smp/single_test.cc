// smp_call_function_single, _single_async, _any.
#include <cerrno>

#include "core/smp/csd_lock.h"
#include "core/smp/test_machine.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

class EverySeries : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Single, EverySeries,
                         ::testing::Values("base", "base-6.17", "posted", "merged"));

TEST_P(EverySeries, AWaitedCallHasRunOnTheCpu) {
  expect_clean_calm(make_config(3, GetParam()), [] {
    for (unsigned cpu = 0; cpu < 3; ++cpu) {
      Seen seen{};
      SD_EXPECT(smp_call_function_single(static_cast<int>(cpu), note, &seen, true) == 0);
      SD_EXPECT(runs(seen) == 1 && runs_on(seen, cpu) == 1);
    }
  });
}

TEST_P(EverySeries, ANoWaitCallRunsInTheEnd) {
  Seen seen{};
  expect_clean_calm(make_config(3, GetParam()), [&seen] {
    for (int cpu : {0, 1, 2, 1}) {
      SD_EXPECT(smp_call_function_single(cpu, note, &seen, false) == 0);
    }
  });
  EXPECT_EQ(seen.runs.counter, 4);
  EXPECT_EQ(seen.on_cpu[1].counter, 2);
}

TEST_P(EverySeries, TheOwnCpuIsCalledAtOnce) {
  expect_clean_calm(make_config(1, GetParam()), [] {
    Seen seen{};
    SD_EXPECT(smp_call_function_single(0, note, &seen, false) == 0);
    SD_EXPECT(runs(seen) == 1);
    SD_EXPECT(!irqs_disabled());
  });
}

TEST_P(EverySeries, NoSuchCpuIsEnxio) {
  expect_clean_calm(make_config(2, GetParam()), [] {
    Seen seen{};
    for (int cpu : {-1, 2, 3, 4096}) {
      SD_EXPECT(smp_call_function_single(cpu, note, &seen, false) == -ENXIO);
      SD_EXPECT(smp_call_function_single(cpu, note, &seen, true) == -ENXIO);
    }
    SD_EXPECT(runs(seen) == 0);
    SD_EXPECT(sd_preempt_count() == 0);
    // The csd of the CPU is free again.
    SD_EXPECT(smp_call_function_single(1, note, &seen, false) == 0);
    while (runs(seen) == 0) kernel::schedule_timeout_interruptible(1);
  });
}

TEST_P(EverySeries, AnOfflineCpuIsEnxio) {
  expect_clean_calm(make_config(2, GetParam()), [] {
    Seen seen{};
    SD_EXPECT(sd_cpu_down(1, __func__) == 0);
    for (bool wait : {false, true}) {
      SD_EXPECT(smp_call_function_single(1, note, &seen, wait) == -ENXIO);
    }
    SD_EXPECT(sd_cpu_up(1, __func__) == 0);
    SD_EXPECT(runs(seen) == 0);
    SD_EXPECT(smp_call_function_single(1, note, &seen, true) == 0);
    SD_EXPECT(runs(seen) == 1);
  });
}

TEST_P(EverySeries, AsyncUsesTheCsdOfItsOwner) {
  Seen seen{};
  call_single_data_t csd{};
  csd.func = note;
  csd.info = &seen;
  expect_clean_calm(make_config(2, GetParam()), [&csd] {
    SD_EXPECT(smp_call_function_single_async(1, &csd) == 0);
    smp_call_function_single(
        1, [](void*) {}, nullptr, true);
    // A waited call overtakes the async one if they are flushed together; both are
    // done before the end.
    while (data_race_read(&csd.node.u_flags) & CSD_FLAG_LOCK) kernel::cond_resched();
    SD_EXPECT(smp_call_function_single_async(0, &csd) == 0);
    SD_EXPECT(smp_call_function_single_async(2, &csd) == -ENXIO);
    SD_EXPECT(smp_call_function_single_async(-1, &csd) == -ENXIO);
  });
  EXPECT_EQ(csd.node.u_flags, 0u);
  EXPECT_EQ(seen.runs.counter, 2);
}

// Interrupts of the target are off while the csd is queued, so it stays locked.
TEST_P(EverySeries, ABusyCsdIsRefusedAndUnchanged) {
  expect_clean(make_config(2, GetParam()), 50, [] {
    Seen first{}, second{};
    call_single_data_t csd{};
    csd.func = note;
    csd.info = &first;
    unsigned ready = 0, go = 0;
    Thread holder([&ready, &go] {
      kernel::local_irq_disable();
      WRITE_ONCE(ready, 1);
      smp_cond_load_acquire(&go, VAL != 0);
      kernel::local_irq_enable();
    });
    holder.start_on(1);
    // Spins with preemption on, so the holder gets a CPU.
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    smp_cond_load_acquire(&ready, VAL != 0);
    SD_EXPECT(smp_call_function_single_async(1, &csd) == 0);
    SD_EXPECT(smp_call_function_single_async(1, &csd) == -EBUSY);
    SD_EXPECT(csd.info == &first && csd.func == note);
    SD_EXPECT(data_race_read(&csd.node.u_flags) == CSD_FLAG_LOCK);
    SD_EXPECT(runs(first) == 0);
    smp_store_release(&go, 1);
    holder.join();
    csd_lock_wait(&csd);
    smp_call_function_single(1, note, &second, true);
    SD_EXPECT(runs(first) == 1);
  });
}

// Interrupts off and interrupt context are allowed for async, and only for it.
TEST_P(EverySeries, AsyncWorksWithInterruptsOff) {
  expect_clean(make_config(3, GetParam()), 100, [] {
    Seen seen{};
    call_single_data_t csd{};
    csd.func = note;
    csd.info = &seen;
    struct Relay {
      call_single_data_t* csd;
      int err;
    } relay{&csd, -1};
    kernel::local_irq_disable();
    SD_EXPECT(smp_call_function_single_async(1, &csd) == 0);
    kernel::local_irq_enable();
    csd_lock_wait(&csd);
    // From a callback, to a third CPU.
    smp_call_function_single(
        1,
        [](void* p) {
          auto* r = static_cast<Relay*>(p);
          r->err = smp_call_function_single_async(2, r->csd);
        },
        &relay, true);
    SD_EXPECT(relay.err == 0);
    csd_lock_wait(&csd);
    smp_call_function_single(
        2, [](void*) {}, nullptr, true);
    while (runs(seen) < 2) kernel::schedule_timeout_interruptible(1);
  });
}

TEST_P(EverySeries, AsyncToTheOwnCpuFromACallbackRunsNested) {
  expect_clean_calm(make_config(2, GetParam()), [] {
    struct Nested {
      call_single_data_t csd;
      Seen seen;
      int runs_behind;
    } nested{};
    nested.csd.func = note;
    nested.csd.info = &nested.seen;
    smp_call_function_single(
        1,
        [](void* p) {
          auto* n = static_cast<Nested*>(p);
          SD_EXPECT(smp_call_function_single_async(1, &n->csd) == 0);
          n->runs_behind = runs(n->seen);
        },
        &nested, true);
    SD_EXPECT(nested.runs_behind == 1);
    SD_EXPECT(runs_on(nested.seen, 1) == 1);
  });
}

TEST(Single, CallingWithInterruptsOffWarns) {
  const Outcome outcome = run_with(make_config(2), "calm", 1, [] {
    kernel::local_irq_disable();
    smp_call_function_single(
        1, [](void*) {}, nullptr, false);
    kernel::local_irq_enable();
  });
  EXPECT_EQ(outcome.failure.id, "WARN");
  EXPECT_EQ(outcome.failure.message,
            "WARNING: cpu_online(this_cpu) && irqs_disabled() && !oops_in_progress");
}

TEST(Single, CallingFromAnInterruptWarns) {
  Config config = make_config(2);
  config.warnings_expected = true;
  const Outcome outcome = run_with(config, "calm", 1, [] {
    smp_call_function_single(
        1,
        [](void*) {
          smp_call_function_single(
              0, [](void*) {}, nullptr, false);
        },
        nullptr, true);
  });
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
  bool found = false;
  for (const std::string& line : machine::kernel_log()) found |= line == "WARNING: !in_task()";
  EXPECT_TRUE(found);
}

// ---- any

TEST_P(EverySeries, AnyTakesTheOwnCpuIfItMay) {
  expect_clean_calm(make_config(3, GetParam()), [] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 1);
    Seen seen{};
    const cpumask mask = mask_of({0, 1, 2});
    SD_EXPECT(smp_call_function_any(&mask, note, &seen, true) == 0);
    SD_EXPECT(runs_on(seen, 1) == 1 && runs(seen) == 1);
  });
}

TEST_P(EverySeries, AnyTakesANearCpuElseAFarOne) {
  Config config = make_config(8, GetParam());
  config.nodes = 2;
  expect_clean_calm(config, [] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 4);
    const unsigned node = sd_cpu_to_node(4);
    unsigned near = 8, far = 8;
    for (unsigned cpu = 0; cpu < 8; ++cpu) {
      if (cpu == 4) continue;
      if (sd_cpu_to_node(cpu) == node && near == 8) near = cpu;
      if (sd_cpu_to_node(cpu) != node && far == 8) far = cpu;
    }
    SD_EXPECT(near < 8 && far < 8);
    Seen seen{};
    const cpumask both = mask_of({near, far});
    SD_EXPECT(smp_call_function_any(&both, note, &seen, true) == 0);
    SD_EXPECT(runs_on(seen, near) == 1);
    const cpumask far_only = mask_of({far});
    SD_EXPECT(smp_call_function_any(&far_only, note, &seen, true) == 0);
    SD_EXPECT(runs_on(seen, far) == 1);
    SD_EXPECT(sd_cpu_down(near, __func__) == 0);
    SD_EXPECT(smp_call_function_any(&both, note, &seen, true) == 0);
    SD_EXPECT(runs_on(seen, far) == 2);
    SD_EXPECT(sd_cpu_up(near, __func__) == 0);
  });
}

TEST_P(EverySeries, AnyWithNobodyOnlineIsEnxio) {
  expect_clean_calm(make_config(3, GetParam()), [] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    Seen seen{};
    const cpumask none{};
    SD_EXPECT(smp_call_function_any(&none, note, &seen, true) == -ENXIO);
    SD_EXPECT(smp_call_function_any(&none, note, &seen, false) == -ENXIO);
    SD_EXPECT(sd_cpu_down(2, __func__) == 0);
    const cpumask two = mask_of({2});
    SD_EXPECT(smp_call_function_any(&two, note, &seen, true) == -ENXIO);
    SD_EXPECT(runs(seen) == 0);
    SD_EXPECT(sd_cpu_up(2, __func__) == 0);
  });
}

// CPU 3 stays online all the time, so a call to any of {2, 3} may never fail.
void call_any_while_one_is_unplugged() {
  Thread plugger([] {
    if (sd_cpu_down(2, "plugger") == 0) sd_cpu_up(2, "plugger");
  });
  plugger.start_on(1);
  const cpumask mask = mask_of({2, 3});
  kernel::set_cpus_allowed_cpu(kernel::current(), 0);
  for (int i = 0; i < 4; ++i) {
    Seen seen{};
    SD_EXPECT(smp_call_function_any(&mask, note, &seen, true) == 0);
    SD_EXPECT(runs(seen) == 1);
  }
  plugger.join();
}

TEST_P(EverySeries, AnyNeverFailsWhileOneOfTheMaskStaysOnline) {
  for (bool preempt : {true, false}) {
    Config config = make_config(4, GetParam());
    config.preempt_full = preempt;
    expect_clean(config, 250, call_any_while_one_is_unplugged);
  }
}

// P03 done naively.
TEST(Single, AnyFailsWhereItChoosesTooEarly) {
  Config config = make_config(4);
  set_bug(&config, Bug::h09);
  std::string found;
  for (uint64_t seed = 1; seed <= 5000 && found.empty(); ++seed) {
    const Outcome outcome = run_with(config, "mix", seed, call_any_while_one_is_unplugged);
    if (outcome.failed) found = outcome.failure.message;
  }
  EXPECT_NE(found.find("smp_call_function_any(&mask, note, &seen, true) == 0"), std::string::npos);
}

}  // namespace
}  // namespace sd::smp
