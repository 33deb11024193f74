// What might sleep says so, whether it has to or not.
#include <gtest/gtest.h>

#include "core/kernel/completion.h"
#include "core/kernel/kthread.h"
#include "core/kernel/slab.h"
#include "core/machine/test_stack.h"

namespace sd::kernel {
namespace {

struct {
  struct completion done;
  struct mutex lock;
} shared;

machine::Outcome run_in(void (*body)(), bool atomic) {
  static void (*the_body)();
  static bool is_atomic;
  the_body = body;
  is_atomic = atomic;
  return machine::testing::run_with(machine::Config{}, "calm", 1, [](void*) {
    init_completion(&shared.done);
    complete_all(&shared.done);
    mutex_init(&shared.lock);
    if (is_atomic) preempt_disable();
    the_body();
    if (is_atomic) preempt_enable();
  });
}

TEST(MightSleep, IsAFailureWithPreemptionOff) {
  void (*const bodies[])() = {
      [] { might_sleep(); },
      [] { wait_for_completion(&shared.done); },
      [] { mutex_lock(&shared.lock); },
      [] { kfree(kmalloc(8, GFP_KERNEL, "object")); },
      [] {
        task_struct* thread = kthread_run([](void*) { return 0; }, nullptr, "thread");
        kthread_stop(thread);
      },
  };
  for (const auto& body : bodies) {
    machine::Outcome outcome = run_in(body, false);
    EXPECT_FALSE(outcome.failed) << outcome.failure.message;
    outcome = run_in(body, true);
    EXPECT_EQ(outcome.failure.id, "sleep-in-atomic") << &body - bodies;
  }
}

TEST(MightSleep, AtomicAllocationsAndSpinlocksDoNot) {
  const machine::Outcome outcome = run_in(
      [] {
        kfree(kmalloc(8, GFP_ATOMIC, "object"));
        complete(&shared.done);
        spinlock_t lock{};
        spin_unlock_irqrestore(&lock, spin_lock_irqsave(&lock));
      },
      true);
  EXPECT_FALSE(outcome.failed) << outcome.failure.message;
}

}  // namespace
}  // namespace sd::kernel
