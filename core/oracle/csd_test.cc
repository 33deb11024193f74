#include "core/oracle/csd.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using CsdScript = Script<Csd>;

// CPU 0, task 10 calls CPU 1 without waiting; the request is queued.
void queue_async(CsdScript& s, call_single_data_t* csd, unsigned target = 1) {
  s.lock(csd, target).fill(csd, kAsync).queue(csd, target, kAsync);
}

TEST(Csd, LifeOfARequestOfEitherTypeIsLegal) {
  CsdScript s;
  call_single_data_t sync{}, async{};
  const call_args waited = single_args(1, true), nowait = single_args(1, false);
  s.on(0, 10).begin(nowait);
  queue_async(s, &async);
  s.end();
  s.begin(waited).locked(&sync, 1).fill(&sync, kSync).queue(&sync, 1, kSync);
  // SYNC overtakes ASYNC.
  s.on(1, 11, 1).flush_begin().take().run_sync(&sync).run_async(&async).flush_end();
  s.on(0, 10).end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I12

TEST(Csd, SI12QueuedWhileOnAList) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.queue(&csd, 2, kAsync);
  EXPECT_EQ(s.id(), "S-I12");
}

TEST(Csd, SI12QueuedWhileInABatch) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).flush_begin().take();
  s.on(0, 10).queue(&csd, 1, kAsync);
  EXPECT_EQ(s.id(), "S-I12");
}

TEST(Csd, SI12OtherEntriesAtTheSameAddressAreNoCsds) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).queue(&csd, 1, kIrqWork).queue(&csd, 1, kIrqWork).queue(&csd, 1, kTtwu);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kIrqWork).flush_end();
  EXPECT_EQ(s.id(), "");
}

TEST(Csd, SI12QueuedAgainAfterItWasUnlinkedAndUnlocked) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync).unlock(&csd).enter(&csd);
  queue_async(s.on(0, 10), &csd, 2);
  s.on(2, 12, 1).flush_begin().take().run_async(&csd).flush_end();
  s.on(1, 11, 1).leave(&csd).flush_end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I13

TEST(Csd, SI13UnlockOfAnUnlockedCsd) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 0).fill(&csd, kAsync).unlock(&csd).local().unlock(&csd);
  EXPECT_EQ(s.id(), "S-I13");
}

// ---- S-I14

TEST(Csd, SI14SecondOwner) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).on(2, 12).lock(&csd, 1);
  EXPECT_EQ(s.id(), "S-I14");
  EXPECT_EQ(s.failure().message,
            "task12 on CPU 2 took the lock of something for CPU 1, which task10 owns and has not "
            "queued yet for CPU 1");
}

TEST(Csd, SI14LockedWhileQueued) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.lock(&csd, 1);
  EXPECT_EQ(s.id(), "S-I14");
}

TEST(Csd, SI14LockedAgainWhileAnOlderWaiterStillPolls) {
  CsdScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10)
      .begin(args)
      .lock(&csd, 1)
      .fill(&csd, kSync)
      .queue(&csd, 1, kSync)
      .ev(tp::csd_wait_begin, &csd);
  s.on(1, 11, 1).flush_begin().take().run_sync(&csd).flush_end();
  // Task 12 takes the csd before task 10 has seen it unlocked.
  const call_args next = single_args(1, true);
  s.on(0, 12).begin(next).lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync);
  s.on(2, 10).ev(tp::csd_wait_end, &csd).end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Csd, SI14QueuedWithoutLock) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).queue(&csd, 1, kAsync);
  EXPECT_EQ(s.id(), "S-I14");
}

TEST(Csd, SI14QueuedByAnother) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).on(2, 12).queue(&csd, 1, kAsync);
  EXPECT_EQ(s.id(), "S-I14");
}

TEST(Csd, SI14WrittenAfterItWasQueued) {
  for (int what = 0; what < 3; ++what) {
    CsdScript s;
    call_single_data_t csd{};
    queue_async(s.on(0, 10), &csd);
    if (what == 0) csd.node.u_flags |= kSync;
    if (what == 1) csd.func = other_func;
    if (what == 2) csd.info = &csd;
    s.on(1, 11, 1).flush_begin().take().unlink(&csd, csd.node.u_flags & smp::CSD_FLAG_TYPE_MASK);
    EXPECT_EQ(s.id(), "S-I14");
  }
}

TEST(Csd, SI14FreedMemoryIsNotRead) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  csd.func = nullptr;
  s.view.can_read = false;
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync);
  EXPECT_EQ(s.id(), "");
}

TEST(Csd, SI14UnlockedByAnother) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).fill(&csd, kAsync).on(2, 12).unlock(&csd);
  EXPECT_EQ(s.id(), "S-I14");
}

TEST(Csd, SI14UnlockedByItsOwnerWhileQueued) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.unlock(&csd);
  EXPECT_EQ(s.id(), "S-I14");
}

TEST(Csd, SI14UnlockedByAnotherCpuWhileItsFunctionRuns) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kSync).enter(&csd);
  s.on(0, 10).unlock(&csd);
  EXPECT_EQ(s.id(), "S-I14");
}

TEST(Csd, SI14OwnerUnlocksWhatIsNotQueued) {
  CsdScript s;
  call_single_data_t csd{};
  const call_args args = async_args(2, &csd);
  s.on(0, 10).begin(args).lock(&csd, 2).fill(&csd, kAsync).unlock(&csd).end(-ENXIO);  // offline
  s.begin(args).lock(&csd, 0).fill(&csd, kAsync).unlock(&csd).local().end();          // local
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Csd, SI14FunctionQueuesItsOwnCsdAgain) {
  for (const unsigned target : {1u, 2u}) {  // local execution on its own CPU, or another
    CsdScript s;
    call_single_data_t csd{};
    const call_args args = async_args(static_cast<int>(target), &csd);
    queue_async(s.on(0, 10), &csd);
    s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync).unlock(&csd).enter(&csd);
    s.begin(args).locked(&csd, target).fill(&csd, kAsync);
    if (target == 1) {
      s.unlock(&csd).local();
    } else {
      s.queue(&csd, target, kAsync);
    }
    s.end().leave(&csd).flush_end();
    if (target == 2) s.on(2, 12, 1).flush_begin().take().run_async(&csd).flush_end();
    EXPECT_EQ(s.id(), "") << s.failure().message;
  }
}

// ---- S-I15

TEST(Csd, SI15TwoAtTheLock) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).ev(tp::csd_lock_begin, &csd).on(2, 12).ev(tp::csd_lock_begin, &csd);
  EXPECT_EQ(s.id(), "S-I15");
}

TEST(Csd, SI15OneAfterTheOther) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.ev(tp::csd_lock_begin, &csd);  // waits for the first request
  s.on(1, 11, 1).flush_begin().take().run_async(&csd).flush_end();
  s.on(0, 10).locked(&csd, 1).fill(&csd, kAsync).queue(&csd, 1, kAsync);
  s.on(3, 13).ev(tp::csd_wait_begin, &csd);  // waiting is not locking
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I16

TEST(Csd, SI16SyncUnlockedBeforeItsFunction) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kSync).unlock(&csd);
  EXPECT_EQ(s.id(), "S-I16");
}

TEST(Csd, SI16AsyncUnlockedAfterItsFunction) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync).enter(&csd);
  EXPECT_EQ(s.id(), "S-I16");
}

TEST(Csd, SI16SyncNeverUnlocked) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kSync).enter(&csd).leave(&csd).flush_end();
  EXPECT_EQ(s.id(), "S-I16");
}

TEST(Csd, SI16TakenForAnotherType) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync);
  EXPECT_EQ(s.id(), "S-I16");
}

TEST(Csd, SI16LocalExecutionUnlocksEitherTypeFirst) {
  CsdScript s;
  call_single_data_t sync{}, async{};
  const call_args waited = single_args(0, true), nowait = single_args(0, false);
  s.on(0, 10).begin(waited).locked(&sync, 0).fill(&sync, kSync).unlock(&sync).local().end();
  s.begin(nowait).lock(&async, 0).fill(&async, kAsync).unlock(&async).local().end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I17

TEST(Csd, SI17GoesOnFromACsdThatIsGone) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).flush_begin().take().run_async(&csd).unlink(&csd, kAsync);
  EXPECT_EQ(s.id(), "S-I17");
}

TEST(Csd, SI17GoesOnIntoTheQueueOfAnotherCpu) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd, 2);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync);
  EXPECT_EQ(s.id(), "S-I17");
}

TEST(Csd, SI17GoesOnIntoTheLiveQueue) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(1, 11, 1).flush_begin().take();
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).unlink(&csd, kAsync);
  EXPECT_EQ(s.id(), "S-I17");
}

TEST(Csd, SI17UnlocksWhatIsStillLinked) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync);
  s.on(1, 11, 1).flush_begin().take().enter(&csd).leave(&csd).unlock(&csd);
  EXPECT_EQ(s.id(), "S-I17");
}

TEST(Csd, SI17ReadsTheFunctionTooLate) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync).unlock(&csd).enter(&csd, other_func);
  EXPECT_EQ(s.id(), "S-I17");
}

TEST(Csd, SI17PointerMayAppearInTraceAfterTheUnlock) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync).unlock(&csd);
  csd.func = other_func;  // the owner's again
  s.enter(&csd).leave(&csd).flush_end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I20

TEST(Csd, SI20StrangeFlags) {
  for (const unsigned flags : {0u, kSync, smp::CSD_FLAG_LOCK | 0x40u, smp::CSD_FLAG_LOCK | kTtwu}) {
    CsdScript s;
    call_single_data_t csd{};
    csd.node.u_flags = flags;
    s.on(0, 10).ev(tp::csd_locked, &csd, 1);
    EXPECT_EQ(s.id(), "S-I20") << flags;
  }
}

TEST(Csd, SI20FlagsChangeWhileItIsInUse) {
  CsdScript s;
  call_single_data_t csd{};
  queue_async(s.on(0, 10), &csd);
  s.on(1, 11, 1).flush_begin().take().unlink(&csd, kAsync);
  csd.node.u_flags |= kIrqWork;
  s.unlock(&csd);
  EXPECT_EQ(s.id(), "S-I20");
}

TEST(Csd, SI20WakeUpEntryKeepsItsType) {
  for (const bool cleared : {false, true}) {
    CsdScript s;
    smp::__call_single_node node{};
    node.u_flags = kTtwu;
    s.on(1, 11, 1).flush_begin().take().unlink(&node, kTtwu);
    if (cleared) node.u_flags = 0;
    s.flush_end();
    EXPECT_EQ(s.id(), cleared ? "S-I20" : "") << s.failure().message;
  }
}

TEST(Csd, SI20OtherEntriesHaveBitsOfTheirOwn) {
  CsdScript s;
  smp::__call_single_node work{};
  work.u_flags = kIrqWork | smp::IRQ_WORK_CLAIMED | smp::IRQ_WORK_HARD_IRQ;
  s.on(0, 10).ev(tp::csd_queue_cpu, &work, 1, kIrqWork).add(&work, 1);
  s.on(1, 11, 1).flush_begin().take().unlink(&work, kIrqWork).flush_end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I10, S-I21

TEST(Csd, SI10AsyncRefusedAndStillLocked) {
  CsdScript s;
  call_single_data_t csd{};
  const call_args args = async_args(2, &csd);
  s.on(0, 10).begin(args).locked(&csd, 2).end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I10");
}

TEST(Csd, SI10AnInterruptTakesTheCsdBeforeTheReturn) {
  CsdScript s;
  call_single_data_t csd{};
  const call_args args = async_args(2, &csd), inner = async_args(1, &csd);
  s.on(0, 10).begin(args).locked(&csd, 2).fill(&csd, kAsync).unlock(&csd);
  s.on(0, 10, 1).begin(inner).locked(&csd, 1).fill(&csd, kAsync).queue(&csd, 1, kAsync).end();
  s.on(0, 10).end(-ENXIO);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Csd, SI10BusyChangesNothing) {
  CsdScript s;
  call_single_data_t csd{};
  const call_args args = async_args(1, &csd);
  s.on(0, 10).begin(args).locked(&csd, 1).fill(&csd, kAsync).queue(&csd, 1, kAsync).end();
  s.begin(args).end(-EBUSY);
  s.on(1, 11, 1).flush_begin().take().run_async(&csd).flush_end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Csd, SI21StackCsdStillQueuedAtReturn) {
  CsdScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).locked(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync).end();
  EXPECT_EQ(s.id(), "S-I21");
}

TEST(Csd, SI21NoWaitCallMayLeaveItsCsdQueued) {
  CsdScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, false);
  s.on(0, 10).begin(args);
  queue_async(s, &csd);
  s.end();
  EXPECT_EQ(s.id(), "");
}

TEST(Csd, NewExecutionForgetsAll) {
  CsdScript s;
  call_single_data_t csd{};
  s.on(0, 10).lock(&csd, 1).start().lock(&csd, 1);
  EXPECT_EQ(s.id(), "");
}

}  // namespace
}  // namespace sd::oracle::testing
