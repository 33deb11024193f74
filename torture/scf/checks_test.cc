// Every check of the torture fires for what it is there for: planted faults, bugs of the stack,
// and quirks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/bugs/bugs.h"
#include "core/machine/events.h"
#include "torture/scf/events.h"
#include "torture/scf/test_run.h"

namespace sd::scf {
namespace {

using testing::Campaign;
using ::testing::HasSubstr;
using testing::Result;
using testing::run_many;
using testing::Scenario;

struct Fault {
  const char* name;
  Plant plant;
  Prim only;
  const char* id;
  const char* message;
};
void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

const Fault kFaults[] = {
    {"lost_request", Plant::lose, Prim::single, "S-I55", "1 no-wait requests have been lost"},
    {"wrong_count", Plant::miscount, Prim::single, "S-I55", "invocations were asked for"},
    {"run_twice", Plant::run_twice, Prim::all_wait, "scf-count", "ran 2 times"},
    {"run_twice_nowait", Plant::run_twice, Prim::all, "scf-count", "ran 2 times"},
    {"double_free", Plant::free_twice, Prim::single_wait, "S-I57", "after it was freed"},
    {"leak", Plant::leak, Prim::single_wait, "S-I57", "were never freed"},
    {"late_handler", Plant::late, Prim::single, "S-I58", "after the cleanup"},
    {"stale_in", Plant::stale_in, Prim::single_wait, "scf-mb-in", "sees scfc_in 0"},
    {"stale_out", Plant::stale_out, Prim::single_wait, "scf-mb-out", "but scfc_out"},
    {"stale_out_of_one_of_many", Plant::stale_out, Prim::all_wait, "scf-mb-out",
     "smp_call_function returned"},
    {"wrong_cpu", Plant::wrong_cpu, Prim::single, "scf-ste", "Wanted CPU 4 got CPU"},
    {"lost_relay", Plant::lose, Prim::relay, "S-I55", "1 no-wait requests have been lost"},
    {"relay_run_twice", Plant::run_twice, Prim::relay, "scf-count", "ran 2 times"},
    {"relay_stale_in", Plant::stale_in, Prim::relay, "scf-mb-in", "sees scfc_in 0"},
    {"relay_stale_out", Plant::stale_out, Prim::relay, "scf-mb-in", "sees 0 of the one before"},
    {"relay_wrong_cpu", Plant::wrong_cpu, Prim::relay, "scf-ste", "Wanted CPU 4 got CPU"},
};

class EveryFault : public ::testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Scf, EveryFault, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryFault, IsFoundAtOnce) {
  for (const char* series : {"base", "merged"}) {
    Scenario scenario(series);
    scenario.plant = GetParam().plant;
    scenario.only(GetParam().only);
    scenario.params.onoff_interval = 0;
    const Campaign campaign = run_many(scenario, 5);
    ASSERT_TRUE(campaign.failed);
    const Result& result = campaign.failure;
    EXPECT_EQ(result.outcome.failure.id, GetParam().id) << result.text();
    EXPECT_EQ(result.outcome.failure.kind, engine::FailureKind::harness);
    EXPECT_THAT(result.outcome.failure.message, HasSubstr(GetParam().message));
    EXPECT_EQ(verdict(campaign.stats), Verdict::failure);
    scenario.plant = Plant::none;
    EXPECT_FALSE(run_many(scenario, 5).failed);
  }
}

// Bugs of the stack that the torture must see by itself, without an oracle.
struct StackBug {
  bugs::Bug bug;
  const char* series;
  std::vector<std::string> ids;
  // The caller goes on while its callback still writes: ThreadSanitizer may see that first.
  bool races = false;
};
void PrintTo(const StackBug& b, std::ostream* out) {
  *out << bugs::info(b.bug).slug;
}

const StackBug kStackBugs[] = {
    {bugs::Bug::canary, "merged", {"scf-count", "scf-mb-out"}, true},
    {bugs::Bug::h42, "base-6.17", {"scf-count", "scf-mb-out", "S-I57"}, true},
    {bugs::Bug::sync_unlock_before, "merged", {"scf-count", "scf-mb-out", "S-I57"}, true},
    {bugs::Bug::flush_drops_async, "merged", {"S-I55", "hang", "livelock"}},
    {bugs::Bug::flush_irqs_on, "merged", {"scf-irqs-on", "WARN"}},
    {bugs::Bug::many_includes_self, "merged", {"scf-count", "S-I11"}},
    {bugs::Bug::enxio_when_inactive, "merged", {"S-I3", "S-I7"}},
    {bugs::Bug::h07, "merged", {"scf-ste"}},
    {bugs::Bug::h01, "merged", {"hang"}},
    {bugs::Bug::irqwork_to_dead, "merged", {"WARN"}},
};

class EveryStackBug : public ::testing::TestWithParam<StackBug> {};
INSTANTIATE_TEST_SUITE_P(Scf, EveryStackBug, ::testing::ValuesIn(kStackBugs), [](const auto& info) {
  std::string name = bugs::info(info.param.bug).slug;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

TEST_P(EveryStackBug, IsSeenByTheTortureAlone) {
#if defined(SD_TSAN)
  if (GetParam().races) GTEST_SKIP() << "it is a data race too";
#endif
  Scenario scenario(GetParam().series);
  scenario.config.bugs = bugs::bit(GetParam().bug);
  scenario.config.patches = bugs::with_forced(scenario.config.patches, scenario.config.bugs);
  const Campaign campaign = run_many(scenario, 1000);
  ASSERT_TRUE(campaign.failed);
  EXPECT_THAT(GetParam().ids, ::testing::Contains(campaign.failure.outcome.failure.id))
      << campaign.failure.text();
}

// ---- quirks of the real torture

Scenario with_bug(bugs::Bug bug, const char* series) {
  Scenario scenario(series);
  scenario.config.bugs = bugs::bit(bug);
  return scenario;
}

TEST(QuirkTest, AnUninitialisedScfcInMakesTheCheckBlind) {
  Scenario scenario = with_bug(bugs::Bug::scfc_in_uninit, "base").only(Prim::single_wait);
  scenario.plant = Plant::stale_in;
  const Campaign campaign = run_many(scenario, 50);
  EXPECT_FALSE(campaign.failed) << campaign.failure.text();
}

// With cpus_read_lock, the 6.12 torture calls smp_call_function_many() preemptibly, which that
// forbids.
TEST(QuirkTest, ManyUnpinnedWarnsBelowPatch6AndOnlyThere) {
  Scenario scenario = with_bug(bugs::Bug::scf_many_unpinned, "base").only(Prim::many_wait);
  scenario.params.use_cpus_read_lock = true;
  const Campaign campaign = run_many(scenario, 20);
  ASSERT_TRUE(campaign.failed);
  EXPECT_EQ(campaign.failure.outcome.failure.id, "WARN") << campaign.failure.text();
  EXPECT_THAT(campaign.failure.outcome.failure.function, HasSubstr("many"));

  scenario.params.use_cpus_read_lock = false;
  EXPECT_FALSE(run_many(scenario, 20).failed);
  Scenario merged = with_bug(bugs::Bug::scf_many_unpinned, "merged").only(Prim::many_wait);
  merged.params.use_cpus_read_lock = true;
  EXPECT_FALSE(run_many(merged, 20).failed);
}

// Whether an operation began before the last invoker had run at all.
class GateObserver : public engine::Observer {
 public:
  const char* name() const override { return "gate"; }
  std::vector<engine::EventId> interests() const override {
    return {machine::event::task_begin, tp::op_begin};
  }
  void on_begin() override { begun_ = 0; }
  // Runs on every task's stack, like the machine itself, so ThreadSanitizer may not see it.
  __attribute__((no_sanitize("thread"))) void on_event(const engine::Event& event) override {
    if (event.id == machine::event::task_begin) {
      begun_ += __builtin_strncmp(machine::task_name(event.task), "scftorture_invoker", 18) == 0;
    } else if (begun_ < 4) {
      ++early;
    }
  }
  int early = 0;

 private:
  int begun_ = 0;
};

TEST(QuirkTest, TheInvertedStartGateIsNoGate) {
  GateObserver observer;
  machine::trace().attach(&observer);
  run_many(Scenario("base"), 50);
  EXPECT_EQ(observer.early, 0);
  run_many(with_bug(bugs::Bug::scf_inverted_gate, "base"), 50);
  EXPECT_GT(observer.early, 0);
  machine::trace().detach_all();
}

// The check that accused the stack when a CPU came online between call and check is exact here:
// calls made while only one CPU is online, preemptibly, and a second one that comes up.
TEST(QuirkTest, ACpuThatComesOnlineDuringACallIsNoMemoryOrderingFailure) {
  for (const char* series : {"base", "posted", "merged"}) {
    for (const bool locked : {false, true}) {
      Scenario scenario(series);
      scenario.config.cpus = 2;
      scenario.config.boot_cpus = 1;
      scenario.params.onoff_interval = 1;
      scenario.params.use_cpus_read_lock = locked;
      scenario.only(Prim::many_wait).only(Prim::all_wait);
      const Campaign campaign = run_many(scenario, 200);
      EXPECT_FALSE(campaign.failed) << campaign.failure.text();
    }
  }
}

}  // namespace
}  // namespace sd::scf
