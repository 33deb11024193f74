// The torture on a stack without bugs: no false alarm, whatever the machine does.
#include "torture/scf/scf.h"

#include <gtest/gtest.h>

#include <tuple>

#include "core/bugs/bugs.h"
#include "core/machine/events.h"
#include "torture/scf/test_run.h"

namespace sd::scf {
namespace {

using testing::Campaign;
using testing::run_many;
using testing::run_once;
using testing::Scenario;

std::string replay(const Campaign& campaign) {
  return "seed " + std::to_string(campaign.seed) + ": " + campaign.failure.text();
}

// Series, use_cpus_read_lock, preemption.
using Variant = std::tuple<const char*, bool, bool>;

Scenario scenario_of(const Variant& variant) {
  Scenario scenario(std::get<0>(variant));
  scenario.params.use_cpus_read_lock = std::get<1>(variant);
  scenario.config.preempt_full = std::get<2>(variant);
  scenario.config.alloc_fail = 20;
  scenario.config.hotplug_fail = 4;
  return scenario;
}

std::string variant_name(const ::testing::TestParamInfo<Variant>& info) {
  std::string name = std::get<0>(info.param);
  for (char& c : name) {
    if (c == '-' || c == '.') c = '_';
  }
  name += std::get<1>(info.param) ? "_locked" : "_unlocked";
  return name + (std::get<2>(info.param) ? "_preempt" : "_none");
}

class EveryVariant : public ::testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Scf, EveryVariant,
                         ::testing::Combine(::testing::Values("base", "base-6.17", "posted",
                                                              "merged"),
                                            ::testing::Bool(), ::testing::Bool()),
                         variant_name);

void expect_clean(const Campaign& campaign) {
  ASSERT_FALSE(campaign.failed) << replay(campaign);
  EXPECT_EQ(campaign.stats.invoked, campaign.stats.expected);
  EXPECT_GT(campaign.stats.invoked, 0);
  EXPECT_EQ(verdict(campaign.stats), Verdict::success);
}

TEST_P(EveryVariant, IsCleanWithHotplugAndInjectedFailures) {
  const Campaign campaign = run_many(scenario_of(GetParam()), 150);
  expect_clean(campaign);
  EXPECT_GT(campaign.offlined, 0u);
  EXPECT_GT(campaign.stats.hotplug_forgiven, 0);
  EXPECT_GT(campaign.stats.n_alloc_errs, 0);
}

TEST_P(EveryVariant, LongIsCleanWithHotplugAndInjectedFailures) {
  expect_clean(run_many(scenario_of(GetParam()), 2000, 1000));
}

TEST_P(EveryVariant, TheSameSeedGivesTheSameExecution) {
  const Scenario scenario = scenario_of(GetParam());
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto first = run_once(scenario, seed);
    const auto second = run_once(scenario, seed);
    ASSERT_EQ(first.outcome.trace_hash, second.outcome.trace_hash) << "seed " << seed;
    ASSERT_EQ(first.stats.invoked, second.stats.invoked);
  }
}

// What the machine and the parameters may be, one thing at a time.
struct Setting {
  const char* name;
  void (*set)(Scenario&);
};
void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.name;
}

const Setting kSettings[] = {
    {"one_cpu", [](Scenario& s) { s.config.cpus = 1; }},
    {"two_cpus_one_at_boot", [](Scenario& s) { s.config.cpus = 2, s.config.boot_cpus = 1; }},
    {"four_cpus_one_at_boot", [](Scenario& s) { s.config.boot_cpus = 1; }},
    {"more_threads_than_cpus", [](Scenario& s) { s.config.cpus = 3, s.params.nthreads = 7; }},
    {"more_threads_than_cpus_none",
     [](Scenario& s) { s.config.cpus = 3, s.params.nthreads = 7, s.config.preempt_full = false; }},
    {"one_thread", [](Scenario& s) { s.params.nthreads = 1; }},
    {"no_hotplug", [](Scenario& s) { s.params.onoff_interval = 0; }},
    {"much_hotplug", [](Scenario& s) { s.params.onoff_interval = 1; }},
    {"one_hotplug_operation", [](Scenario& s) { s.params.onoff_ops = 1; }},
    {"onoff_holdoff", [](Scenario& s) { s.params.onoff_holdoff = 1; }},
    {"onoff_not_at_boot", [](Scenario& s) { s.params.disable_onoff_at_boot = true; }},
    {"stutter", [](Scenario& s) { s.params.stutter = 5; }},
    {"stutter_of_one", [](Scenario& s) { s.params.stutter = 1; }},
    {"holdoff", [](Scenario& s) { s.params.holdoff = 2; }},
    {"longwait", [](Scenario& s) { s.params.longwait = 20; }},
    {"shuffle", [](Scenario& s) { s.params.random_shuffle = 1; }},
    {"shuffle_none",
     [](Scenario& s) { s.params.random_shuffle = 1, s.config.preempt_full = false; }},
    {"verbose", [](Scenario& s) { s.params.verbose = 2, s.params.verbose_sleep_frequency = 3; }},
    {"many_failures", [](Scenario& s) { s.config.alloc_fail = 3, s.config.hotplug_fail = 2; }},
    {"softirqs", [](Scenario& s) { s.params.softirqs = 1; }},
    {"irq_work_from_tick",
     [](Scenario& s) {
       s.set(kernel::Param::irq_work_from_tick, 1);
       s.only(Prim::irq_work).only(Prim::relay);
     }},
    {"global_call_queue",
     [](Scenario& s) {
       s.set(kernel::Param::global_call_queue, 1);
       s.only(Prim::many).only(Prim::many_wait).only(Prim::single);
     }},
    {"pct", [](Scenario& s) { s.strategy = "pct:3"; }},
    {"pos", [](Scenario& s) { s.strategy = "pos"; }},
};

class EverySetting : public ::testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(Scf, EverySetting, ::testing::ValuesIn(kSettings),
                         [](const auto& info) { return info.param.name; });

TEST_P(EverySetting, IsClean) {
  for (const char* series : {"base", "merged"}) {
    Scenario scenario(series);
    GetParam().set(scenario);
    expect_clean(run_many(scenario, 60));
  }
}

class EveryPrim : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Scf, EveryPrim, ::testing::Range(0u, kPrims), [](const auto& info) {
  return prim_weight_name(static_cast<Prim>(info.param));
});

TEST_P(EveryPrim, AloneIsClean) {
  for (const char* series : {"base", "merged"}) {
    Scenario scenario(series);
    scenario.only(static_cast<Prim>(GetParam()));
    scenario.config.alloc_fail = 10;
    const Campaign campaign = run_many(scenario, 60);
    ASSERT_FALSE(campaign.failed) << replay(campaign);
    EXPECT_EQ(campaign.stats.invoked, campaign.stats.expected);
    EXPECT_GT(campaign.stats.n[GetParam()], 0);
  }
}

TEST(ScfTest, LargeMachineIsClean) {
  Scenario scenario;
  scenario.config.cpus = 70;
  scenario.params.nthreads = 8;
  scenario.params.ops = 2;
  expect_clean(run_many(scenario, 10));
}

TEST(ScfTest, CallsNothingWithoutThreads) {
  Scenario scenario;
  scenario.params.nthreads = 0;
  const Campaign campaign = run_many(scenario, 20);
  ASSERT_FALSE(campaign.failed) << replay(campaign);
  EXPECT_EQ(campaign.stats.invoked, 0);
}

TEST(ScfTest, EveryThreadDoesItsOperationsWhereNoCpuGoesAway) {
  Scenario scenario;
  scenario.params.onoff_interval = 0;
  scenario.params.ops = 3;
  const auto result = run_once(scenario, 1);
  EXPECT_EQ(result.stats.ops, 3 * 4);
}

TEST(ScfTest, ManyOperationsAreClean) {
  Scenario scenario;
  scenario.params.ops = 1000;
  scenario.params.nthreads = 8;
  scenario.config.step_bound = 10'000'000;
  const auto result = run_once(scenario, 1);
  EXPECT_FALSE(result.outcome.failed) << result.text();
  EXPECT_GT(result.stats.ops, 1000);
}

TEST(ScfTest, ShutdownSecsEndsATestThatWouldNotEnd) {
  Scenario scenario;
  scenario.params.ops = 0;
  scenario.params.shutdown_secs = 1;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const auto result = run_once(scenario, seed);
    ASSERT_FALSE(result.outcome.failed) << result.text();
    EXPECT_TRUE(result.was_shut_down);
  }
}

TEST(ScfTest, TasksThatStopTwoCpusAreClean) {
  for (const bool preempt : {false, true}) {
    Scenario scenario;
    scenario.params.swaps = 3;
    scenario.config.preempt_full = preempt;
    const Campaign campaign = run_many(scenario, 200);
    EXPECT_FALSE(campaign.failed) << replay(campaign);
    EXPECT_GT(campaign.offlined, 0u);
  }
}

// Which CPUs end an execution with a softirq that has not run.
class SoftirqWatch : public engine::Observer {
 public:
  const char* name() const override { return "softirqs"; }
  std::vector<engine::EventId> interests() const override {
    return {machine::event::softirq_raise, machine::event::softirq_entry};
  }
  void on_begin() override { pending_ = 0; }
  // Runs on every task's stack, like the machine itself, so ThreadSanitizer may not see it.
  __attribute__((no_sanitize("thread"))) void on_event(const engine::Event& event) override {
    const unsigned cpu = 1u << event.cpu;
    const bool raised = event.id == machine::event::softirq_raise;
    pending_ = raised ? pending_ | cpu : pending_ & ~cpu;
    (event.irq_depth ? in_irq : in_idle) += raised;
  }
  __attribute__((no_sanitize("thread"))) void on_end() override { lost += pending_ != 0; }
  int in_irq = 0, in_idle = 0, lost = 0;

 private:
  unsigned pending_ = 0;
};

TEST(ScfTest, SoftirqsRunAfterInterruptsAndAfterFlushesOfIdleCpus) {
  for (const bool buggy : {false, true}) {
    SoftirqWatch watch;
    machine::trace().attach(&watch);
    Scenario scenario;
    scenario.params.softirqs = 2;
    scenario.params.onoff_interval = 0;
    if (buggy) scenario.config.bugs = bugs::bit(bugs::Bug::h05);
    const Campaign campaign = run_many(scenario, 100);
    machine::trace().detach_all();
    EXPECT_FALSE(campaign.failed) << replay(campaign);
    EXPECT_GT(watch.in_irq, 0);
    EXPECT_GT(watch.in_idle, 0);
    EXPECT_EQ(watch.lost > 0, buggy);
  }
}

TEST(ScfTest, TasksThatStopTwoCpusNeedTwo) {
  Scenario scenario;
  scenario.config.cpus = 1;
  scenario.params.swaps = 3;
  const auto result = run_once(scenario, 1);
  EXPECT_FALSE(result.outcome.failed) << result.text();
}

TEST(ScfTest, WeightsThatMakeNoSenseAreAFailedInit) {
  Scenario scenario;
  scenario.params.weights.fill(0);
  const auto result = run_once(scenario, 1);
  EXPECT_FALSE(result.outcome.failed) << result.text();
  EXPECT_TRUE(result.init_failed);
}

TEST(ScfTest, HotplugFailuresThatNobodyInjectedLockHotplug) {
  Scenario scenario;
  scenario.config.hotplug_fail = 2;
  scenario.params.forgive_injected = false;
  const Campaign campaign = run_many(scenario, 20);
  ASSERT_FALSE(campaign.failed) << replay(campaign);
  EXPECT_EQ(campaign.stats.hotplug_forgiven, 0);
  EXPECT_EQ(verdict(campaign.stats), Verdict::lock_hotplug);
}

TEST(ScfTest, AllCpusAreOnlineAtTheEnd) {
  Scenario scenario;
  scenario.config.hotplug_fail = 3;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const auto result = run_once(scenario, seed);
    ASSERT_FALSE(result.outcome.failed) << result.text();
    ASSERT_EQ(result.outcome.onlined, result.outcome.offlined) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sd::scf
