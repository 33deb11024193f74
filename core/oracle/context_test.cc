#include "core/oracle/context.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using ContextScript = Script<Context>;

call_single_data_t csd{};
const call_args kArgs = single_args(1, true);

// ---- S-I27

TEST(Context, SI27FlushWithInterruptsEnabled) {
  ContextScript s;
  s.on(1, 11).ev(tp::flush_begin);
  EXPECT_EQ(s.id(), "S-I27");
}

TEST(Context, SI27CallbackWithInterruptsEnabled) {
  for (const bool at_exit : {false, true}) {
    ContextScript s;
    s.on(1, 11, 1).flush_begin();
    if (at_exit) s.enter(&csd);
    s.view.irqs_off = false;
    at_exit ? s.leave(&csd) : s.enter(&csd);
    EXPECT_EQ(s.id(), "S-I27");
  }
}

TEST(Context, SI27IrqWorkOfAFlushWithInterruptsEnabled) {
  ContextScript s;
  s.on(1, 11, 1).flush_begin();
  s.view.irqs_off = false;
  s.ev(tp::irq_work_entry, &csd);
  EXPECT_EQ(s.id(), "S-I27");
}

TEST(Context, SI27FlushInsideAFlush) {
  ContextScript s;
  s.on(1, 11).flush_begin().on(1, 11, 1).flush_begin();
  EXPECT_EQ(s.id(), "S-I27");
}

TEST(Context, SI27SwitchInsideAFlush) {
  ContextScript s;
  s.on(1, 11).flush_begin().ev(mev::sched_switch, nullptr, 11, 12);
  EXPECT_EQ(s.id(), "S-I27");
}

TEST(Context, SI27QueuedCallbackOutsideOfAFlush) {
  ContextScript s;
  s.view.irqs_off = true;
  s.on(1, 11).enter(&csd);
  EXPECT_EQ(s.id(), "S-I27");
}

TEST(Context, SI27QueuedCallbackOnAnotherCpuThanItsFlush) {
  ContextScript s;
  s.on(1, 11).flush_begin().on(2, 12).enter(&csd);
  EXPECT_EQ(s.id(), "S-I27");
}

TEST(Context, SI27LegalFlushes) {
  ContextScript s;
  s.on(1, 11, 1).flush_begin().on(2, 12).flush_begin();  // two CPUs at once, one in its idle loop
  const call_args async = async_args(1, nullptr);
  s.on(1, 11, 1).enter(&csd).begin(async).pin().local().unpin().end().leave(
      &csd);  // nested local execution
  s.ev(tp::irq_work_entry, &csd).ev(tp::irq_work_exit, &csd).flush_end();
  s.view.irqs_off = true;
  s.on(2, 12).enter(&csd).leave(&csd).flush_end();
  s.ev(mev::sched_switch, nullptr, 12, 13)
      .on(2, 13)
      .local();  // the local part of a call is no flush's
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I40

TEST(Context, SI40ReturnsWithPreemptionDisabled) {
  ContextScript s;
  s.on(0, 10).begin(kArgs);
  s.view.depth = 1;
  s.end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I40");
}

TEST(Context, SI40ReturnsWithPreemptionEnabled) {
  ContextScript s;
  s.view.depth = 1;
  s.on(0, 10).begin(kArgs);
  s.view.depth = 0;
  s.end();
  EXPECT_EQ(s.id(), "S-I40");
}

TEST(Context, SI40BalancedAtAnyDepth) {
  ContextScript s;
  s.on(0, 10).begin(kArgs);
  s.view.depth = 1;
  s.on(0, 10, 1)
      .begin(kArgs)
      .end()
      .on(0, 10)
      .begin(kArgs)
      .end();  // nested ones, from the depth they find
  s.view.depth = 0;
  s.on(3, 10).end();
  EXPECT_EQ(s.id(), "");
}

// ---- S-I41

TEST(Context, SI41PreemptedInsideTheSection) {
  ContextScript s;
  s.on(0, 10).begin(kArgs).pin().ev(mev::sched_switch, nullptr, 10, 12);
  EXPECT_EQ(s.id(), "S-I41");
}

TEST(Context, SI41QueuesAfterItWasPreempted) {
  ContextScript s;
  s.on(0, 10)
      .begin(kArgs)
      .pin()
      .unpin()
      .ev(mev::sched_switch, nullptr, 10, 12)
      .on(0, 10)
      .queue(&csd, 1, kSync);
  EXPECT_EQ(s.id(), "S-I41");
}

TEST(Context, SI41RunsLocallyAfterItWasPreempted) {
  ContextScript s;
  s.on(0, 10).begin(kArgs).pin().unpin().ev(mev::sched_switch, nullptr, 10, 12).on(1, 10).local();
  EXPECT_EQ(s.id(), "S-I41");
}

TEST(Context, SI41PreemptedBeforeAndAfterTheSection) {
  ContextScript s;
  s.on(0, 10)
      .begin(kArgs)
      .ev(mev::sched_switch, nullptr, 10, 12)
      .on(2, 10)
      .pin()
      .queue(&csd, 1, kSync)
      .unpin();
  s.ev(mev::sched_switch, nullptr, 10, 12).on(3, 10).end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Context, SI41InterruptsMayNest) {
  ContextScript s;
  s.on(0, 10)
      .begin(kArgs)
      .pin()
      .on(0, 10, 1)
      .begin(kArgs)
      .pin()
      .queue(&csd, 2, kAsync)
      .unpin()
      .end();
  s.on(0, 10).queue(&csd, 1, kSync).unpin().end();
  EXPECT_EQ(s.id(), "");
}

TEST(Context, SI41WakeUpsAndIrqWorkHaveNoSection) {
  ContextScript s;
  s.on(0, 10)
      .begin(kArgs)
      .pin()
      .unpin()
      .ev(mev::sched_switch, nullptr, 10, 12)
      .on(0, 10, 1)
      .queue(&csd, 1, kTtwu);
  s.on(0, 10).queue(&csd, 1, kIrqWork).end();
  EXPECT_EQ(s.id(), "");
}

TEST(Context, SI41CallOnCpuSleepsAsItLikes) {
  ContextScript s;
  const call_args args{.kind = call_kind::smp_call_on_cpu, .wait = true, .cpu = 1};
  s.on(0, 10).begin(args).ev(mev::sched_switch, nullptr, 10, 12).on(0, 10).end();
  EXPECT_EQ(s.id(), "");
}

// ---- S-I42

using series::Patch;

// A waited call from depth 0 that waits at `depth`, with the CPU's mask or with one
// of the task's own.
std::string wait_at(unsigned depth, const call_args& args, std::initializer_list<Patch> patches,
                    bool own_mask = true) {
  ContextScript s;
  static smp::cpumask own;
  for (const Patch patch : patches) s.view.patches.set(static_cast<unsigned>(patch));
  s.on(0, 10).begin(args).pin();
  if (args.kind == call_kind::many) {
    s.ev(tp::snapshot, own_mask ? &own : static_cast<const volatile void*>(s.view.cpu_mask(0)));
  }
  s.view.depth = depth;
  s.ev(tp::csd_wait_begin, &csd);
  return s.id();
}

TEST(Context, SI42WaitsWithPreemptionOffWhereTheSeriesHasItOn) {
  smp::cpumask some{};
  const call_args any{.kind = call_kind::any, .wait = true, .mask = &some, .func = func};
  const call_args many = many_args(&some, true), each = many_args(&some, true, smp::SCF_RUN_LOCAL);
  EXPECT_EQ(wait_at(1, kArgs, {Patch::p02}), "S-I42");
  EXPECT_EQ(wait_at(1, any, {Patch::p02, Patch::p03}), "S-I42");
  EXPECT_EQ(wait_at(1, many, {Patch::p04, Patch::p06}), "S-I42");
  EXPECT_EQ(wait_at(1, many, {Patch::p04, Patch::p06, Patch::p06_merged}, false), "S-I42");
  EXPECT_EQ(wait_at(1, each, {Patch::p04, Patch::p06, Patch::p08}), "S-I42");
  EXPECT_EQ(wait_at(0, each, {Patch::p04, Patch::p06, Patch::p08}), "");
}

TEST(Context, SI42WhereTheSeriesDoesNotSaySo) {
  smp::cpumask some{};
  const call_args any{.kind = call_kind::any, .wait = true, .mask = &some, .func = func};
  const call_args many = many_args(&some, true), each = many_args(&some, true, smp::SCF_RUN_LOCAL);
  EXPECT_EQ(wait_at(1, kArgs, {}), "");
  EXPECT_EQ(wait_at(1, any, {Patch::p02}), "");
  EXPECT_EQ(wait_at(1, many, {Patch::p04}), "");
  EXPECT_EQ(wait_at(1, many, {Patch::p04, Patch::p06}, false), "");  // a task without a mask
  EXPECT_EQ(wait_at(1, each, {Patch::p04, Patch::p06, Patch::p07}), "");
}

TEST(Context, SI42CallOfAllNeedsP07) {
  for (const bool p07 : {false, true}) {
    ContextScript s;
    s.view.patches.set(static_cast<unsigned>(Patch::p06));
    if (p07) s.view.patches.set(static_cast<unsigned>(Patch::p07));
    const call_args args = many_args(&s.view.online_words, true);
    s.on(0, 10).begin(args).pin();
    s.view.depth = 1;
    s.ev(tp::csd_wait_begin, &csd);
    EXPECT_EQ(s.id(), p07 ? "S-I42" : "");
  }
}

TEST(Context, SI42CalledWithPreemptionOff) {
  ContextScript s;
  s.view.patches.set(static_cast<unsigned>(Patch::p02));
  s.view.depth = 1;
  s.on(0, 10).begin(kArgs).pin();
  s.view.depth = 2;
  s.ev(tp::csd_lock_begin, &csd);  // never preemptible
  s.view.depth = 1;
  s.ev(tp::csd_wait_begin, &csd);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I43

TEST(Context, SI43CalledWithInterruptsOff) {
  ContextScript s;
  s.view.irqs_off = true;
  s.on(0, 10).begin(kArgs);
  EXPECT_EQ(s.id(), "S-I43");
}

TEST(Context, SI43CalledFromAnInterrupt) {
  ContextScript s;
  s.view.task_context = false;
  s.on(0, 10, 1).begin(single_args(1, false));
  EXPECT_EQ(s.id(), "S-I43");
}

TEST(Context, SI43SingleAsyncAnywhereAndOfflineCpus) {
  ContextScript s;
  const call_args async = async_args(1, &csd);
  s.view.irqs_off = true;
  s.view.task_context = false;
  s.on(0, 10, 1).begin(async).end();
  s.view.task_context = true;
  s.view.set_online(0, false);
  s.on(0, 0).begin(single_args(1, false)).end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

}  // namespace
}  // namespace sd::oracle::testing
