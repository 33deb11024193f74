// The sanitizers see the plain accesses of code on the machine: what is planted is found, with both
// places, and what is ordered is not reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/kernel/compiler.h"
#include "core/kernel/completion.h"
#include "core/kernel/kthread.h"
#include "core/kernel/slab.h"
#include "core/machine/test_stack.h"

namespace sd::kernel {
namespace {

using ::testing::AllOf;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

struct Shared {
  int plain;
  bool ordered;
  completion first_is_done;
};

__attribute__((noinline)) void first_racer(Shared* shared) {
  shared->plain = 1;
}
__attribute__((noinline)) void second_racer(Shared* shared) {
  shared->plain = 2;
}

int first_thread(void* data) {
  auto* shared = static_cast<Shared*>(data);
  first_racer(shared);
  complete(&shared->first_is_done);
  return 0;
}

int second_thread(void* data) {
  auto* shared = static_cast<Shared*>(data);
  if (shared->ordered) wait_for_completion(&shared->first_is_done);
  second_racer(shared);
  return 0;
}

void race(void* data) {
  task_struct* threads[2] = {kthread_create(first_thread, data, "first"),
                             kthread_create(second_thread, data, "second")};
  for (unsigned i = 0; i < 2; ++i) kthread_bind(threads[i], i + 1);
  for (task_struct* thread : threads) wake_up_process(thread);
  for (task_struct* thread : threads) kthread_join(thread);
}

// In a process of its own, since what a sanitizer says ends one.
[[noreturn]] void run_alone(void (*entry)(void*), void* data, unsigned cpus = 3,
                            const char* strategy = "random", uint64_t executions = 20) {
  machine::Config config;
  config.cpus = cpus;
  for (uint64_t seed = 0; seed < executions; ++seed) {
    const machine::Outcome outcome =
        machine::testing::run_with(config, strategy, seed, entry, data);
    if (outcome.failed) std::exit(1);
  }
  std::exit(0);
}

class SanitizerDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(SanitizerDeathTest, OrderedPlainAccessesAreNotReported) {
  Shared shared{0, true, {}};
  EXPECT_EXIT(run_alone(race, &shared), ExitedWithCode(0), "");
}

int counters[2];  // one per CPU, for whoever runs there with preemption off

int marked;  // so that there are places to be preempted at

int counting_thread(void*) {
  for (unsigned i = 0; i < 20; ++i) {
    WRITE_ONCE(marked, 1);
    ++counters[get_cpu()];
    put_cpu();
  }
  return 0;
}

void count_on_every_cpu(void*) {
  task_struct* threads[4];
  for (task_struct*& thread : threads) thread = kthread_run(counting_thread, nullptr, "counter");
  for (task_struct* thread : threads) kthread_join(thread);
}

// What a CPU's current task does to the CPU's data is ordered after what the one before it did,
// also if it was preempted on one CPU, moved, and preempted that other task with no context having
// run in between.
TEST_F(SanitizerDeathTest, PlainPerCpuDataWithPreemptionOffIsNotReported) {
  EXPECT_EXIT(run_alone(count_on_every_cpu, nullptr, 2, "swarm", 3000), ExitedWithCode(0), "");
}

#if defined(SD_TSAN)

TEST_F(SanitizerDeathTest, APlantedRaceIsReportedWithBothStacks) {
  Shared shared{0, false, {}};
  EXPECT_EXIT(run_alone(race, &shared), ExitedWithCode(66),
              AllOf(HasSubstr("data race"), HasSubstr("first_racer"), HasSubstr("second_racer")));
}

#elif defined(SD_ASAN)

void use_after_free(void*) {
  auto* p = static_cast<volatile char*>(kmalloc(32, GFP_NOFAIL, "thing"));
  kfree(const_cast<char*>(p));
  p[3] = 1;
}

TEST_F(SanitizerDeathTest, APlantedUseAfterFreeIsReported) {
  EXPECT_DEATH(run_alone(use_after_free, nullptr), "use-after-poison");
}

#endif

}  // namespace
}  // namespace sd::kernel
