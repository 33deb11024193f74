// smp_call_function_many, smp_call_function, on_each_cpu*, kick_all_cpus_sync.
#include "core/smp/test_machine.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

class Many : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(EverySeries, Many,
                         ::testing::Values("base", "base-6.17", "posted", "merged"));

// As the caller of smp_call_function_many() has to below P06.
void many_pinned(const cpumask* mask, smp_call_func_t func, void* info, bool wait) {
  kernel::preempt_disable();
  smp_call_function_many(mask, func, info, wait);
  kernel::preempt_enable();
}

TEST_P(Many, CallsTheMaskWithoutTheCaller) {
  expect_clean_calm(make_config(4, GetParam()), [] {
    Seen seen{};
    const cpumask mask = mask_of({0, 1, 3});
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    many_pinned(&mask, note, &seen, true);
    SD_EXPECT(runs(seen) == 2 && runs_on(seen, 1) == 1 && runs_on(seen, 3) == 1);
  });
}

TEST_P(Many, SmpCallFunctionCallsAllOthers) {
  expect_clean_calm(make_config(4, GetParam()), [] {
    Seen seen{};
    SD_EXPECT(sd_cpu_down(2, __func__) == 0);
    kernel::set_cpus_allowed_cpu(kernel::current(), 1);
    smp_call_function(note, &seen, true);
    SD_EXPECT(runs(seen) == 2 && runs_on(seen, 0) == 1 && runs_on(seen, 3) == 1);
    SD_EXPECT(sd_cpu_up(2, __func__) == 0);
  });
}

TEST_P(Many, OnEachCpuCallsTheCallerToo) {
  expect_clean_calm(make_config(4, GetParam()), [] {
    Seen seen{};
    on_each_cpu(note, &seen, true);
    SD_EXPECT(runs(seen) == 4);
    const cpumask mask = mask_of({0, 2});
    on_each_cpu_mask(&mask, note, &seen, true);
    SD_EXPECT(runs(seen) == 6 && runs_on(seen, 0) == 2 && runs_on(seen, 2) == 2);
  });
}

TEST_P(Many, AnEmptyOrOfflineMaskCallsNobody) {
  expect_clean_calm(make_config(3, GetParam()), [] {
    Seen seen{};
    const cpumask none{};
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    many_pinned(&none, note, &seen, true);
    SD_EXPECT(sd_cpu_down(2, __func__) == 0);
    const cpumask two = mask_of({2});
    on_each_cpu_mask(&two, note, &seen, true);
    SD_EXPECT(runs(seen) == 0);
    SD_EXPECT(sd_cpu_up(2, __func__) == 0);
  });
}

TEST_P(Many, NoWaitCallsRunInTheEnd) {
  Seen seen{};
  expect_clean_calm(make_config(4, GetParam()), [&seen] {
    for (int i = 0; i < 3; ++i) smp_call_function(note, &seen, false);
    on_each_cpu(note, &seen, false);
  });
  EXPECT_EQ(seen.runs.counter, 13);
}

struct Condition {
  Seen seen;
  int asked[4];
  bool answer[4];
};

bool ask(int cpu, void* info) {
  auto* condition = static_cast<Condition*>(info);
  SD_EXPECT(sd_preempt_count() > 0 || !preempt_model_full());
  SD_EXPECT(!irqs_disabled());
  ++condition->asked[cpu];
  return condition->answer[cpu];
}

void note_condition(void* info) {
  note(&static_cast<Condition*>(info)->seen);
}

TEST_P(Many, TheConditionIsAskedOnceForEachCpuOfTheMask) {
  for (bool wait : {true, false}) {
    Condition condition{};
    condition.answer[0] = condition.answer[2] = true;
    expect_clean_calm(make_config(4, GetParam()), [&condition, wait] {
      SD_EXPECT(sd_cpu_down(3, __func__) == 0);
      on_each_cpu_cond(ask, note_condition, &condition, wait);
      SD_EXPECT(sd_cpu_up(3, __func__) == 0);
    });
    EXPECT_EQ(condition.seen.runs.counter, 2);
    EXPECT_EQ(condition.seen.on_cpu[0].counter, 1);
    EXPECT_EQ(condition.seen.on_cpu[2].counter, 1);
    for (int cpu = 0; cpu < 3; ++cpu) EXPECT_EQ(condition.asked[cpu], 1) << cpu;
    EXPECT_EQ(condition.asked[3], 0);
  }
}

TEST_P(Many, AConditionThatNeverHoldsCallsNobody) {
  expect_clean_calm(make_config(4, GetParam()), [] {
    Condition condition{};
    const cpumask mask = mask_of({1, 2});
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    on_each_cpu_cond_mask(ask, note_condition, &condition, true, &mask);
    SD_EXPECT(runs(condition.seen) == 0);
    SD_EXPECT(condition.asked[0] == 0 && condition.asked[1] == 1 && condition.asked[2] == 1);
  });
}

// Others leave the mask while it is being used, as CPUs leave mm_cpumask.
void call_a_shrinking_mask() {
  cpumask mask = mask_of({1, 2});
  Thread leaver([&mask] {
    kernel::cpumask_clear_cpu(2, &mask);
    kernel::cpumask_clear_cpu(1, &mask);
  });
  leaver.start();
  Seen seen{};
  on_each_cpu_mask(&mask, note, &seen, true);
  SD_EXPECT(runs(seen) <= 2 && runs_on(seen, 1) <= 1 && runs_on(seen, 2) <= 1);
  leaver.join();
}

TEST_P(Many, TheMaskMayShrinkMeanwhile) {
  expect_clean(make_config(3, GetParam()), 200, call_a_shrinking_mask);
}

TEST(Many, LookingAtTheMaskASecondTimeHangs) {
  Config config = make_config(3);
  set_bug(&config, Bug::h01);
  std::string found;
  for (uint64_t seed = 1; seed <= 2000 && found.empty(); ++seed) {
    found = run_with(config, "mix", seed, call_a_shrinking_mask).failure.id;
  }
  EXPECT_EQ(found, "hang");
}

// Below P06 the caller has to keep its CPU.
TEST(Many, CallingUnpinnedWarnsBelowP06Only) {
  const auto call = [] {
    const cpumask mask = mask_of({1});
    smp_call_function_many(
        &mask, [](void*) {}, nullptr, true);
  };
  EXPECT_EQ(run_with(make_config(2, "base"), "calm", 1, call).failure.id, "WARN");
  EXPECT_FALSE(run_with(make_config(2, "posted"), "calm", 1, call).failed);
  EXPECT_FALSE(run_with(make_config(2, "merged"), "calm", 1, call).failed);
}

TEST(Many, CallingWithInterruptsOffWarns) {
  const Outcome outcome = run_with(make_config(2), "calm", 1, [] {
    kernel::local_irq_disable();
    smp_call_function([](void*) {}, nullptr, true);
    kernel::local_irq_enable();
  });
  EXPECT_EQ(outcome.failure.id, "WARN");
}

}  // namespace
}  // namespace sd::smp
