#include "core/oracle/completion.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using CompletionScript = Script<Completion>;

// One CPU's flush runs one request.
void flush_one(CompletionScript& s, unsigned cpu, call_single_data_t* csd, unsigned type) {
  s.on(cpu, 20 + cpu, 1).flush_begin().take();
  type == kSync ? s.run_sync(csd) : s.run_async(csd);
  s.flush_end();
}

// ---- S-I1

TEST(Completion, SI1ReturnsBeforeTheFunctionHasRun) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().fill(&csd, kSync).queue(&csd, 1, kSync).unpin().end();
  EXPECT_EQ(s.id(), "S-I1");
  EXPECT_EQ(s.failure().message,
            "smp_call_function_single(wait) of task10 on CPU 0 for CPU 1 returned before its "
            "function had begun");
}

TEST(Completion, SI1ReturnsBeforeTheFunctionHasFinished) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  s.on(1, 21, 1).flush_begin().take().unlink(&csd, kSync).enter(&csd);
  s.on(0, 10).end();
  EXPECT_EQ(s.id(), "S-I1");
}

TEST(Completion, SI1ReturnsWithoutHavingQueued) {
  CompletionScript s;
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().unpin().end();
  EXPECT_EQ(s.id(), "S-I1");
}

TEST(Completion, SI1QueuesToAnotherCpu) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().fill(&csd, kSync).queue(&csd, 2, kSync);
  EXPECT_EQ(s.id(), "S-I1");
}

TEST(Completion, SI1RunsOnAnotherCpu) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().fill(&csd, kSync).queue(&csd, 1, kSync);
  flush_one(s, 2, &csd, kSync);
  EXPECT_EQ(s.id(), "S-I1");
}

TEST(Completion, SI1RunsTwice) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  flush_one(s, 1, &csd, kSync);
  flush_one(s, 1, &csd, kSync);
  EXPECT_EQ(s.id(), "S-I1");
}

TEST(Completion, SI1RunsAgainAfterTheReturn) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  flush_one(s, 1, &csd, kSync);
  s.on(0, 10).end();
  flush_one(s, 1, &csd, kSync);
  EXPECT_EQ(s.id(), "S-I1");
}

TEST(Completion, SI1AnyRunsLocallyAlthoughItChoseAnother) {
  CompletionScript s;
  const smp::cpumask mask = mask_of({0, 1});
  const call_args args{.kind = call_kind::any, .wait = true, .mask = &mask, .func = func};
  s.on(0, 10).begin(args).pin().ev(tp::any_selected, nullptr, 1).local();
  EXPECT_EQ(s.id(), "S-I1");
}

TEST(Completion, SI1RemoteAndLocalCallsAreLegal) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true), own = single_args(0, true);
  s.on(0, 10).begin(args).pin().fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  flush_one(s, 1, &csd, kSync);
  s.on(2, 10).end();  // it has migrated
  s.on(0, 10).begin(own).pin().local().unpin().end();
  EXPECT_EQ(s.finish().id(), "") << s.failure().message;
  EXPECT_EQ(s.observer.counts().runs[0], 2u);
  EXPECT_EQ(s.observer.counts().expected[0], 2u);
}

TEST(Completion, SI1OfflineCpuMayCallItself) {
  CompletionScript s;
  s.view.set_online(0, false);
  s.view.irqs_off = true;
  const call_args own = single_args(0, true);
  s.on(0, 10).begin(own).pin().local().unpin().end();
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Completion, SI1HandlerCallsNestOnTopOfTheCallOfTheTask) {
  CompletionScript s;
  call_single_data_t outer{}, other{}, inner{};
  const call_args args = single_args(1, true), nested = async_args(0, &inner),
                  foreign = single_args(0, false);
  s.on(0, 10).begin(args).pin().fill(&outer, kSync).queue(&outer, 1, kSync).unpin();
  // CPU 0 is interrupted by a request of CPU 2, whose function calls its own CPU: locally, nested.
  s.on(2, 12).begin(foreign).pin().fill(&other, kAsync).queue(&other, 0, kAsync).unpin().end();
  s.on(0, 10, 1).flush_begin().take().unlink(&other, kAsync).unlock(&other).enter(&other);
  s.begin(nested).pin().fill(&inner, kAsync).unlock(&inner).local().unpin().end();
  s.leave(&other).flush_end();
  flush_one(s, 1, &outer, kSync);
  s.on(0, 10).end();
  EXPECT_EQ(s.finish().id(), "") << s.failure().message;
  EXPECT_EQ(s.observer.counts().runs[1], 1u);
}

TEST(Completion, SI1ForbiddenContextIsNotJudged) {
  for (const bool irq : {false, true}) {
    CompletionScript s;
    call_single_data_t csd{};
    const call_args args = single_args(1, true);
    s.view.irqs_off = !irq;
    s.view.task_context = !irq;
    s.on(0, 10, irq).begin(args).pin().fill(&csd, kSync).queue(&csd, 1, kSync).unpin().end();
    EXPECT_EQ(s.id(), "");
  }
}

// ---- S-I2

TEST(Completion, SI2RefusedAlthoughQueued) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, false);
  s.on(0, 10).begin(args).pin().fill(&csd, kAsync).queue(&csd, 1, kAsync).unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I2");
}

TEST(Completion, SI2RefusedAlthoughRun) {
  CompletionScript s;
  const call_args args = single_args(0, false);
  s.on(0, 10).begin(args).pin().local().unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I2");
}

TEST(Completion, SI2RefusedAndNeverRun) {
  CompletionScript s;
  const call_args args = single_args(7, true);
  s.on(0, 10).begin(args).pin().unpin().end(-ENXIO);
  EXPECT_EQ(s.finish().id(), "");
  EXPECT_EQ(s.observer.counts().refused[0], 1u);
}

// ---- S-I4

struct Many {
  call_single_data_t csd[4]{};
  smp::cpumask mask = mask_of({0, 1, 2, 3});
  call_args args;

  explicit Many(bool wait = true, unsigned flags = 0) : args(many_args(&mask, wait, flags)) {}
  void queue(CompletionScript& s, std::initializer_list<unsigned> targets) {
    for (const unsigned cpu : targets) s.fill(&csd[cpu], kSync).queue(&csd[cpu], cpu, kSync);
  }
};

TEST(Completion, SI4ReturnsWithOneTargetMissing) {
  CompletionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 2, 3});
  s.unpin();
  flush_one(s, 1, &many.csd[1], kSync);
  flush_one(s, 3, &many.csd[3], kSync);
  s.on(0, 10).end();
  EXPECT_EQ(s.id(), "S-I4");
  EXPECT_EQ(s.failure().message,
            "a call of several CPUs(wait) of task10 on CPU 0 returned while its function had not "
            "begun on CPU 2; 1 of 3 targets had not finished");
}

TEST(Completion, SI4RunsTwiceOnATarget) {
  CompletionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 2});
  flush_one(s, 1, &many.csd[1], kSync);
  flush_one(s, 1, &many.csd[1], kSync);
  EXPECT_EQ(s.id(), "S-I4");
}

TEST(Completion, SI4LocalPartMissing) {
  CompletionScript s;
  Many many(true, smp::SCF_RUN_LOCAL);
  s.on(0, 10).begin(many.args).pin().ev(tp::run_local_sampled, nullptr, 1).unpin().end();
  EXPECT_EQ(s.id(), "S-I4");
}

TEST(Completion, SI4LocalPartThoughNotInTheMask) {
  CompletionScript s;
  Many many(true, smp::SCF_RUN_LOCAL);
  s.on(0, 10).begin(many.args).pin().ev(tp::run_local_sampled, nullptr, 0).local().unpin().end();
  EXPECT_EQ(s.id(), "S-I4");
}

TEST(Completion, SI4LocalPartThoughTheConditionFailed) {
  CompletionScript s;
  Many many(true, smp::SCF_RUN_LOCAL);
  many.args.cond = [](int, void*) { return false; };
  s.on(0, 10)
      .begin(many.args)
      .pin()
      .ev(tp::run_local_sampled, nullptr, 1)
      .ev(tp::cond_result, nullptr, 0, 0);
  s.local().unpin().end();
  EXPECT_EQ(s.id(), "S-I4");
}

TEST(Completion, SI4LocalPartTwice) {
  CompletionScript s;
  Many many(true, smp::SCF_RUN_LOCAL);
  s.on(0, 10).begin(many.args).pin().ev(tp::run_local_sampled, nullptr, 1).local().local();
  EXPECT_EQ(s.id(), "S-I4");
}

TEST(Completion, SI4LocalPartOnAnotherCpu) {
  CompletionScript s;
  Many many(true, smp::SCF_RUN_LOCAL);
  s.on(0, 10).begin(many.args).pin().ev(tp::run_local_sampled, nullptr, 1).on(1, 10).local();
  EXPECT_EQ(s.id(), "S-I4");
}

TEST(Completion, SI4WholeCallsAreLegal) {
  CompletionScript s;
  Many many(true, smp::SCF_RUN_LOCAL);
  many.args.cond = [](int, void*) { return true; };
  s.on(0, 10).begin(many.args).pin();
  for (const unsigned cpu : {1u, 3u}) {
    s.on(0, 10).ev(tp::cond_result, nullptr, cpu, 1);
    many.queue(s, {cpu});
    flush_one(s, cpu, &many.csd[cpu], kSync);  // the first ones run while others are queued
  }
  s.on(0, 10).ev(tp::cond_result, nullptr, 2, 0).ev(tp::run_local_sampled, nullptr, 1);
  s.ev(tp::cond_result, nullptr, 0, 1).local().unpin().end();
  EXPECT_EQ(s.finish().id(), "") << s.failure().message;
  EXPECT_EQ(s.observer.counts().runs[3], 3u);
  EXPECT_EQ(s.observer.counts().expected[3], 3u);
  EXPECT_EQ(s.observer.counts().runs_of(func), 3u);
  EXPECT_EQ(s.observer.counts().expected_runs_of(func), 3u);
  EXPECT_EQ(s.observer.counts().runs_of(other_func), 0u);
}

TEST(Completion, SI4NobodyToCallIsLegal) {
  CompletionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin().unpin().end();
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Completion, SI4OverWaitAndReuseByAnotherTaskAreLegal) {
  CompletionScript s;
  Many a, b;
  s.on(0, 10).begin(a.args).pin();
  a.queue(s, {1});
  s.unpin().ev(tp::csd_wait_begin, &a.csd[1]);
  flush_one(s, 1, &a.csd[1], kSync);
  // Another task of CPU 0 takes the csd again before the first one, which has left, looks.
  s.on(0, 12).begin(b.args).pin().fill(&a.csd[1], kSync).queue(&a.csd[1], 1, kSync).unpin();
  flush_one(s, 1, &a.csd[1], kSync);
  s.on(0, 12).end();
  s.on(2, 10).ev(tp::csd_wait_end, &a.csd[1]).end();
  EXPECT_EQ(s.finish().id(), "") << s.failure().message;
}

TEST(Completion, SI4SyncOvertakesAsync) {
  CompletionScript s;
  call_single_data_t async{}, sync{};
  const call_args nowait = single_args(1, false), waited = single_args(1, true);
  s.on(0, 10).begin(nowait).pin().fill(&async, kAsync).queue(&async, 1, kAsync).unpin().end();
  s.begin(waited).pin().fill(&sync, kSync).queue(&sync, 1, kSync).unpin();
  s.on(1, 21, 1).flush_begin().take().run_sync(&sync);
  s.on(0, 10).end();
  s.on(1, 21, 1).run_async(&async).flush_end();
  EXPECT_EQ(s.finish().id(), "") << s.failure().message;
}

// ---- S-I6

TEST(Completion, SI6LostRequest) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, false);
  s.on(0, 10).begin(args).pin().fill(&csd, kAsync).queue(&csd, 1, kAsync).unpin().end();
  EXPECT_EQ(s.id(), "");
  s.finish();
  EXPECT_EQ(s.id(), "S-I6");
  EXPECT_EQ(s.failure().function, "f");
}

TEST(Completion, SI6LostTargetOfSeveral) {
  CompletionScript s;
  Many many(false);
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 2});
  s.unpin().end();
  flush_one(s, 1, &many.csd[1], kSync);
  s.finish();
  EXPECT_EQ(s.id(), "S-I6");
}

TEST(Completion, SI6ReturnsZeroWithoutHavingQueued) {
  CompletionScript s;
  const call_args args = single_args(1, false);
  s.on(0, 10).begin(args).pin().unpin().end();
  EXPECT_EQ(s.id(), "S-I6");
}

TEST(Completion, SI6CsdQueuedAgainWhileItsFunctionStillRuns) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args first = async_args(1, &csd), second = async_args(2, &csd);
  s.on(0, 10).begin(first).pin().fill(&csd, kAsync).queue(&csd, 1, kAsync).unpin().end();
  s.on(1, 21, 1).flush_begin().take().unlink(&csd, kAsync).unlock(&csd).enter(&csd);
  s.on(0, 10).begin(second).pin().fill(&csd, kAsync).queue(&csd, 2, kAsync).unpin().end();
  flush_one(s, 2, &csd, kAsync);
  s.on(1, 21, 1).leave(&csd).flush_end();
  EXPECT_EQ(s.finish().id(), "") << s.failure().message;
  EXPECT_EQ(s.observer.counts().runs[1], 2u);
}

TEST(Completion, SI6RunsInTheFlushOfADyingCpu) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, false);
  s.on(0, 10).begin(args).pin().fill(&csd, kAsync).queue(&csd, 1, kAsync).unpin().end();
  s.go_offline(1);
  flush_one(s, 1, &csd, kAsync);
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Completion, SI6CallFromADeadCpuRunsLater) {
  CompletionScript s;
  call_single_data_t csd{};
  s.view.irqs_off = true;
  s.view.set_online(3, false);
  const call_args args = single_args(0, false);
  s.on(3, 3)
      .begin(args)
      .pin()
      .fill(&csd, kAsync)
      .queue(&csd, 0, kAsync)
      .unpin()
      .end()
      .ev(mev::cpu_dead, nullptr, 3);
  flush_one(s, 0, &csd, kAsync);
  EXPECT_EQ(s.finish().id(), "");
}

// ---- S-I8, S-I10

TEST(Completion, SI8RunsOnTheCallingCpu) {
  CompletionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin().local();
  EXPECT_EQ(s.id(), "S-I8");
}

TEST(Completion, SI8RunsOnTheCallingCpuByItsQueue) {
  CompletionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {0});
  s.on(0, 10, 1).flush_begin().take().run_sync(&many.csd[0]);
  EXPECT_EQ(s.id(), "S-I8");
}

TEST(Completion, SI10BusyAndQueued) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = async_args(1, &csd);
  s.on(0, 10).begin(args).pin().fill(&csd, kAsync).queue(&csd, 1, kAsync).unpin().end(-EBUSY);
  EXPECT_EQ(s.id(), "S-I10");
}

TEST(Completion, SI10BusyAddsNoRunAndTheEarlierIssueStillCounts) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = async_args(1, &csd);
  s.on(0, 10).begin(args).pin().fill(&csd, kAsync).queue(&csd, 1, kAsync).unpin().end();
  s.begin(args).pin().unpin().end(-EBUSY);
  flush_one(s, 1, &csd, kAsync);
  EXPECT_EQ(s.finish().id(), "");
  EXPECT_EQ(s.observer.counts().expected[1], 1u);
}

// ---- other entries, counts, hangs

TEST(Completion, OtherEntriesOnTheQueueAreNotCalls) {
  CompletionScript s;
  call_single_data_t work{};
  const call_args args = single_args(1, true);
  // An interrupt queues irq_work in the middle of a call.
  s.on(0, 10).begin(args).pin().on(0, 10, 1).queue(&work, 2, kIrqWork);
  s.on(2, 22, 1).flush_begin().take().unlink(&work, kIrqWork).flush_end();
  s.on(0, 10).unpin().end(-ENXIO);
  EXPECT_EQ(s.finish().id(), "");
}

TEST(Completion, FunctionsOfNobodyAreCounted) {
  CompletionScript s;
  call_single_data_t csd{};
  s.on(1, 21, 1).enter(&csd).leave(&csd).local();
  EXPECT_EQ(s.observer.counts().unattributed, 2u);
}

TEST(Completion, CallOnCpuIsOnlyFollowed) {
  CompletionScript s;
  const call_args args{.kind = call_kind::smp_call_on_cpu, .wait = true, .cpu = 1};
  s.on(0, 10).begin(args).end(-5);
  EXPECT_EQ(s.finish().id(), "");
  EXPECT_EQ(s.observer.counts().calls[4], 1u);
}

TEST(Completion, DescribesWhoWaits) {
  CompletionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 2});
  s.unpin().ev(tp::csd_wait_begin, &many.csd[1]);
  s.on(1, 21, 1).flush_begin().take().unlink(&many.csd[1], kSync).enter(&many.csd[1]);
  EXPECT_EQ(s.observer.describe_waiting(),
            "a call of several CPUs(wait) of task10 on CPU 0 waits for completion of something; "
            "has not finished on "
            "CPU 1 (running), CPU 2 (queued)\n");
}

TEST(Completion, ManyCallsAndCsdsGrowTheTables) {
  CompletionScript s;
  std::vector<call_single_data_t> csds(3000);
  const call_args args = single_args(1, false);
  for (call_single_data_t& csd : csds) {
    s.on(0, 10).begin(args).pin().fill(&csd, kAsync).queue(&csd, 1, kAsync).unpin().end();
  }
  s.on(1, 21, 1).flush_begin().take();
  for (call_single_data_t& csd : csds) s.run_async(&csd);
  s.flush_end();
  EXPECT_EQ(s.finish().id(), "");
  EXPECT_EQ(s.observer.counts().runs[0], csds.size());
  s.start();
  EXPECT_EQ(s.finish().id(), "");
  EXPECT_EQ(s.observer.counts().runs[0], 0u);
}

// ---- S-I19

TEST(Completion, SI19WaitEndsBeforeTheTargetIsDone) {
  for (const int progress : {0, 1, 2, 3}) {
    CompletionScript s;
    call_single_data_t csd{};
    const smp::cpumask mask = mask_of({1});
    const call_args args = many_args(&mask, true);
    s.on(0, 10).begin(args).pin().lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
    s.ev(tp::csd_wait_begin, &csd);
    s.on(1, 21, 1).flush_begin().take();
    if (progress > 0) s.unlink(&csd, kSync).enter(&csd);
    if (progress > 1) s.leave(&csd);
    if (progress > 2) s.unlock(&csd);
    s.on(0, 10).ev(tp::csd_wait_end, &csd);
    EXPECT_EQ(s.id(), progress > 2 ? "" : "S-I19") << progress << s.failure().message;
  }
}

TEST(Completion, SI19WaitForAStackCsdEndsTooEarly) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().locked(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  s.ev(tp::csd_wait_begin, &csd).ev(tp::csd_wait_end, &csd);
  EXPECT_EQ(s.id(), "S-I19");
}

TEST(Completion, SI19MayWaitForTheNextRequestToo) {
  CompletionScript s;
  call_single_data_t csd{};
  const smp::cpumask mask = mask_of({1});
  const call_args args = many_args(&mask, true);
  s.on(0, 10).begin(args).pin().lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  s.ev(tp::csd_wait_begin, &csd);
  flush_one(s, 1, &csd, kSync);
  // Another task of CPU 0 takes the csd for the same target, and is not done when the first one is.
  s.on(0, 12).begin(args).pin().lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  s.on(2, 10).ev(tp::csd_wait_end, &csd).end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
  s.on(0, 12).ev(tp::csd_wait_begin, &csd).ev(tp::csd_wait_end, &csd);
  EXPECT_EQ(s.id(), "S-I19");
}

TEST(Completion, SI19StackCsdThatWasNeverQueued) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().locked(&csd, 1).fill(&csd, kSync).unlock(&csd).unpin();  // -ENXIO
  s.ev(tp::csd_wait_begin, &csd).ev(tp::csd_wait_end, &csd).end(-ENXIO);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I35

TEST(Completion, SI35WaitOfATaskThatWasMovedIsLost) {
  for (const bool several : {false, true}) {
    CompletionScript s;
    call_single_data_t csd{};
    const smp::cpumask mask = mask_of({1});
    const call_args args = several ? many_args(&mask, true) : single_args(1, true);
    s.on(0, 10).begin(args).pin().locked(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
    s.on(0, 0).go_offline(0);
    s.on(2, 10).end();
    EXPECT_EQ(s.id(), "S-I35");
  }
}

TEST(Completion, SI35WaitOfATaskThatWasMoved) {
  CompletionScript s;
  call_single_data_t csd{};
  const smp::cpumask mask = mask_of({1});
  const call_args args = many_args(&mask, true);
  s.on(0, 10).begin(args).pin().lock(&csd, 1).fill(&csd, kSync).queue(&csd, 1, kSync).unpin();
  s.on(0, 0).go_offline(0);
  flush_one(s, 1, &csd, kSync);
  s.on(2, 10).ev(tp::csd_wait_begin, &csd).ev(tp::csd_wait_end, &csd).end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I37

// The call of CPU 3, which is offline, to CPU 0; it halts right behind.
void report_dead(CompletionScript& s, call_single_data_t* csd, const call_args& args) {
  s.view.set_online(3, false);
  s.start();
  s.view.irqs_off = true;
  s.on(3, 3).begin(args).pin().lock(csd, 0).fill(csd, kAsync);
}

TEST(Completion, SI37ReportOfADeadCpuIsRefused) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(0, false);
  report_dead(s, &csd, args);
  s.unlock(&csd).unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I37");
}

TEST(Completion, SI37ReportOfADeadCpuIsNeverRun) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(0, false);
  report_dead(s, &csd, args);
  s.queue(&csd, 0, kAsync).unpin().end().finish();
  EXPECT_EQ(s.id(), "S-I37");
}

TEST(Completion, SI37ReportOfADeadCpuIsRunAfterItHasHalted) {
  CompletionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(0, false);
  report_dead(s, &csd, args);
  s.queue(&csd, 0, kAsync).unpin().end().ev(mev::cpu_dead, nullptr, 3);
  flush_one(s, 0, &csd, kAsync);
  s.finish();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

}  // namespace
}  // namespace sd::oracle::testing
