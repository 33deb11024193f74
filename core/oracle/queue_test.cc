#include "core/oracle/queue.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using QueueScript = Script<Queue>;

// All CPUs are halted at the beginning, as idle CPUs are.
call_single_data_t csd_a{}, csd_b{}, csd_c{};
const call_args kArgs = single_args(1, false);

void halt(QueueScript& s, unsigned cpu) {
  s.on(cpu, cpu).ev(mev::idle_halt);
}
void wake(QueueScript& s, unsigned cpu) {
  s.on(cpu, cpu, 1).ev(mev::irq_enter, nullptr, sd_vec_reschedule);
}

// ---- S-I22

TEST(Queue, SI22HaltsOnAQueueThatNobodyTellsOf) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1).ev(tp::wake_idle_without_ipi, nullptr, 1);
  EXPECT_EQ(s.id(), "");
  halt(s, 1);
  EXPECT_EQ(s.id(), "S-I22");
}

TEST(Queue, SI22TrustsAHaltedCpuToPoll) {
  QueueScript s;
  s.on(0, 10).add(&csd_a, 1).ev(tp::wake_idle_without_ipi, nullptr, 1);
  EXPECT_EQ(s.id(), "S-I22");
}

TEST(Queue, SI22NotEmptyAtTheEnd) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1).finish();
  EXPECT_EQ(s.id(), "S-I22");
}

TEST(Queue, SI22IpiPending) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1).send(1);
  halt(s, 1);
  EXPECT_EQ(s.id(), "");
}

TEST(Queue, SI22AdderHasYetToSend) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1);
  halt(s, 1);
  // Others ride on its notification.
  s.on(2, 12).add(&csd_b, 1);
  wake(s, 1);
  halt(s, 1);
  EXPECT_EQ(s.id(), "");
  s.on(0, 10).send(1).on(1, 1, 1).ev(mev::irq_enter, nullptr, sd_vec_call_function_single).take();
  halt(s, 1);
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Queue, SI22PollingWithNeedResched) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1).ev(tp::wake_idle_without_ipi, nullptr, 1);
  s.on(1, 1).take();  // leaves the poll loop and flushes
  halt(s, 1);
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Queue, SI22MarkOfAPollingWakeUpComesLate) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1);
  s.on(1, 1).take();  // its exchange has worked already
  halt(s, 1);
  s.on(2, 12).add(&csd_b, 1);  // finds it empty, and owes
  s.on(0, 10).ev(tp::wake_idle_without_ipi, nullptr, 1);
  EXPECT_EQ(s.id(), "") << s.failure().message;
  s.on(2, 12).send(1);
  EXPECT_EQ(s.id(), "");
}

TEST(Queue, SI22IpiOfAnotherMerges) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1).on(2, 12).send(1);  // sent for something else, or once too often
  halt(s, 1);
  s.on(1, 1, 1).ev(mev::irq_enter).take().on(0, 10).send(1).on(1, 1, 1).ev(mev::irq_enter).take();
  halt(s, 1);
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Queue, SI22OfflineCpusSleepOnWhateverTheyHave) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1).ev(tp::wake_idle_without_ipi, nullptr, 1).on(1, 1).go_offline(1);
  halt(s, 1);
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Queue, SI22OtherVectorsTellNothing) {
  QueueScript s;
  wake(s, 1);
  s.on(0, 10).add(&csd_a, 1).ev(mev::ipi_send, nullptr, 1, sd_vec_reschedule).begin(kArgs).unpin();
  s.ev(tp::wake_idle_without_ipi, nullptr, 1);
  halt(s, 1);
  EXPECT_EQ(s.id(), "S-I22");
}

// ---- S-I23

TEST(Queue, SI23EndsItsSectionWithoutTelling) {
  QueueScript s;
  s.on(0, 10).begin(kArgs).pin().add(&csd_a, 1).add(&csd_b, 2).send(1).unpin();
  EXPECT_EQ(s.id(), "S-I23");
}

TEST(Queue, SI23WaitsWithoutHavingTold) {
  QueueScript s;
  s.on(0, 10).begin(kArgs).pin().add(&csd_a, 1).ev(tp::csd_wait_begin, &csd_a);
  EXPECT_EQ(s.id(), "S-I23");
}

TEST(Queue, SI23MayWaitToLockTheNextCsd) {
  QueueScript s;
  s.on(0, 10)
      .begin(kArgs)
      .pin()
      .add(&csd_a, 1)
      .ev(tp::csd_lock_begin, &csd_b)
      .ev(tp::csd_locked, &csd_b, 2);
  s.add(&csd_b, 2).send(1, sd_vec_call_function).send(2, sd_vec_call_function).unpin().end();
  EXPECT_EQ(s.id(), "");
}

TEST(Queue, SI23NotEmptyOwesNothing) {
  QueueScript s;
  s.on(2, 12).add(&csd_a, 1).on(0, 10).begin(kArgs).pin().add(&csd_b, 1).unpin().end();
  EXPECT_EQ(s.id(), "");
}

TEST(Queue, SI23CallInsideTheConditionEndsItsOwnSectionOnly) {
  QueueScript s;
  s.on(0, 10).begin(kArgs).pin().add(&csd_a, 1);
  s.begin(kArgs).pin().add(&csd_b, 2).send(2).unpin().end();
  s.send(1).unpin().end();
  EXPECT_EQ(s.id(), "");
}

TEST(Queue, SI23InterruptTellsOfItsOwnAdditionOnly) {
  QueueScript s;
  s.on(0, 10).begin(kArgs).pin().add(&csd_a, 1);
  s.on(1, 1, 1).take();  // a flush for another reason
  s.on(0, 10, 1).begin(kArgs).pin().add(&csd_b, 1).send(1).unpin().end();
  s.on(0, 10).unpin();
  EXPECT_EQ(s.id(), "S-I23");
}

TEST(Queue, SI23WakeUpFromAnInterruptInTheSection) {
  QueueScript s;
  s.on(0, 10)
      .begin(kArgs)
      .pin()
      .on(0, 10, 1)
      .add(&csd_c, 3)
      .send(3)
      .on(0, 10)
      .add(&csd_a, 1)
      .send(1)
      .unpin()
      .end();
  EXPECT_EQ(s.id(), "");
}

TEST(Queue, NewExecutionForgetsAll) {
  QueueScript s;
  s.on(0, 10).begin(kArgs).pin().add(&csd_a, 1);
  s.view.heads[1].first = nullptr;
  s.start().on(0, 10).begin(kArgs).pin().unpin().end();
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Queue, HeadsAreKnownByAddressAtAnyDistance) {
  for (const unsigned cpus : {1u, 2u, 3u, 64u}) {
    const FakeView view(cpus);
    QueueHeads heads;
    heads.reset(view);
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
      EXPECT_EQ(heads.cpu_of(&view.heads[cpu]), static_cast<int>(cpu));
      EXPECT_EQ(heads.cpu_of(reinterpret_cast<const char*>(&view.heads[cpu]) + 8), -1);
    }
    EXPECT_EQ(heads.cpu_of(&view), -1);
    EXPECT_EQ(heads.cpu_of(nullptr), -1);
  }
}

// ---- S-I24

TEST(Queue, SI24CountsIpisToQueuesThatWereNotFoundEmpty) {
  Script<Queue> s;
  call_single_data_t csd[2]{};
  const call_args args = single_args(1, false);
  s.on(0, 10).begin(args).pin().queue(&csd[0], 1, kAsync).send(1).unpin().end();
  EXPECT_EQ(s.observer.ipis().sent, 1u);
  EXPECT_EQ(s.observer.ipis().superfluous, 0u);
  s.on(2, 12).begin(args).pin().queue(&csd[1], 1, kAsync).send(1).unpin().end();
  EXPECT_EQ(s.observer.ipis().superfluous, 1u);
  s.ev(tp::csd_resend_ipi, &csd[1], 1).send(1);  // a complaint sends again
  s.send(1, sd_vec_reschedule);                  // not for a call
  EXPECT_EQ(s.observer.ipis().sent, 3u);
  EXPECT_EQ(s.observer.ipis().superfluous, 1u);
  EXPECT_EQ(s.id(), "") << s.failure().message;
  s.start();
  EXPECT_EQ(s.observer.ipis().sent, 0u);
}

}  // namespace
}  // namespace sd::oracle::testing
