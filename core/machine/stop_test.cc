// stop_two_cpus(), alone, with others of its kind, and under hotplug.
#include <gtest/gtest.h>

#include <cerrno>

#include "core/machine/machine.h"
#include "core/machine/test_stack.h"

namespace sd::machine {
namespace {

using testing::run_with;
using testing::small;
using testing::text_of;

constexpr unsigned kCpus = 4;
constexpr unsigned kTasks = 3;
constexpr unsigned kStops = 4;  // of each task

// Of one execution.
struct Stops {
  unsigned done = 0;  // tasks
  unsigned accepted = 0, refused = 0, runs = 0;
  bool wrong = false;  // a function ran elsewhere, or not alone on its two CPUs
  bool stopped[kCpus] = {};
  sd_waitq queue{};
};
Stops stops;

struct Pair {
  unsigned cpu1, cpu2;
};

int run_stopped(void* arg) {
  const auto* pair = static_cast<const Pair*>(arg);
  ++stops.runs;
  if (sd_this_cpu() != pair->cpu1 || !sd_irqs_disabled()) stops.wrong = true;
  for (const unsigned cpu : {pair->cpu1, pair->cpu2}) {
    if (stops.stopped[cpu]) stops.wrong = true;
    stops.stopped[cpu] = true;
  }
  for (int i = 0; i < 3; ++i) sd_fence(sd_mb, "stopped");
  stops.stopped[pair->cpu1] = stops.stopped[pair->cpu2] = false;
  return 7;
}

void stop_pairs(void*) {
  for (unsigned i = 0; i < kStops; ++i) {
    // Every pair, in either order.
    const unsigned n = i + stops.done;
    Pair pair{n % kCpus, (n + 1 + i % (kCpus - 1)) % kCpus};
    const int result = sd_stop_two_cpus(pair.cpu1, pair.cpu2, run_stopped, &pair, "stop_pairs");
    if (result != 7 && result != -ENOENT) stops.wrong = true;
    ++(result == 7 ? stops.accepted : stops.refused);
  }
  ++stops.done;
  sd_wake_one(&stops.queue);
}

void stop_and_unplug(void* plugs) {
  stops = Stops{};
  for (unsigned i = 0; i < kTasks; ++i)
    sd_task_wake(sd_task_create(stop_pairs, nullptr, "swapper"), "test");
  const auto times = static_cast<unsigned>(reinterpret_cast<uintptr_t>(plugs));
  for (unsigned i = 0; i < times; ++i) {
    sd_cpu_down(1 + i % (kCpus - 1), "test");
    sd_cpu_up(1 + i % (kCpus - 1), "test");
  }
  while (stops.done < kTasks) sd_block_on(&stops.queue, "wait");
}

class StopTwo : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, StopTwo, ::testing::Values("random", "pct:3", "pos", "mix"));

TEST_P(StopTwo, RunsOnceOnItsCpuWhileBothAreStopped) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Outcome outcome = run_with(small(kCpus), GetParam(), seed, stop_and_unplug, nullptr);
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
    ASSERT_EQ(stops.accepted, kTasks * kStops);
    ASSERT_EQ(stops.runs, stops.accepted);
    ASSERT_FALSE(stops.wrong);
  }
}

TEST_P(StopTwo, IsRefusedWhereACpuIsNotUpAndElseRuns) {
  unsigned refused = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Config config = small(kCpus);
    config.hotplug_fail = seed % 2 ? 4 : 0;
    const Outcome outcome =
        run_with(config, GetParam(), seed, stop_and_unplug, reinterpret_cast<void*>(uintptr_t{3}));
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << text_of(outcome);
    ASSERT_EQ(stops.accepted + stops.refused, kTasks * kStops);
    ASSERT_EQ(stops.runs, stops.accepted);
    ASSERT_FALSE(stops.wrong);
    refused += stops.refused;
  }
  EXPECT_GT(refused, 0u);
}

TEST(StopTwoOffline, IsRefused) {
  Config config = small(2);
  config.boot_cpus = 1;
  const Outcome outcome = run_with(config, "random", 1, [](void*) {
    Pair pair{0, 1};
    if (sd_stop_two_cpus(0, 1, run_stopped, &pair, "test") != -ENOENT)
      sd_fail("ran", "test", "it ran");
  });
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
}

}  // namespace
}  // namespace sd::machine
