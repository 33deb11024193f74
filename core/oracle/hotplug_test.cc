#include "core/oracle/hotplug.h"

#include "core/oracle/test_script.h"
#include "core/smp/smp.h"

namespace sd::oracle::testing {
namespace {

using HotplugScript = Script<Hotplug>;

call_single_data_t csd{};
smp::irq_work works[3]{};

HotplugScript& die(HotplugScript& s, unsigned cpu) {
  return s.on(cpu, cpu).go_offline(cpu).ev(tp::smpcfd_dying_begin, nullptr, cpu);
}
HotplugScript& died(HotplugScript& s, unsigned cpu) {
  return s.ev(tp::smpcfd_dying_end, nullptr, cpu);
}

// ---- S-I29

TEST(Hotplug, SI29RunsOnAnOfflineCpu) {
  HotplugScript s;
  died(die(s, 1), 1).enter(&csd);
  EXPECT_EQ(s.id(), "S-I29");
}

TEST(Hotplug, SI29RunsBetweenTheOnlineBitAndTheFlush) {
  HotplugScript s;
  s.on(1, 1).go_offline(1).enter(&csd);
  EXPECT_EQ(s.id(), "S-I29");
}

TEST(Hotplug, SI29RunsOnACpuThatHasNeverBeenUp) {
  HotplugScript s;
  s.view.set_online(1, false);
  s.start().on(1, 1).enter(&csd);
  EXPECT_EQ(s.id(), "S-I29");
}

TEST(Hotplug, SI29DyingFlushAndLocalExecutionAreLegal) {
  HotplugScript s;
  s.on(0, 10).add(&csd, 1);
  die(s, 1).take().enter(&csd).leave(&csd).local();
  died(s, 1).local();  // an offline CPU's own call
  s.go_online(1).enter(&csd).leave(&csd);
  s.on(0, 10).enter(&csd);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I30

TEST(Hotplug, SI30QueueNotEmptyAfterTheDyingFlush) {
  HotplugScript s;
  s.on(0, 10).add(&csd, 1);
  died(die(s, 1), 1);
  EXPECT_EQ(s.id(), "S-I30");
}

TEST(Hotplug, SI30QueueNotEmptyWhenDead) {
  HotplugScript s;
  s.on(0, 10).add(&csd, 1).on(1, 1).go_offline(1).ev(mev::cpu_dead, nullptr, 1);
  EXPECT_EQ(s.id(), "S-I30");
}

TEST(Hotplug, SI30QueuesToADeadCpu) {
  HotplugScript s;
  died(die(s, 1), 1).on(0, 10).add(&csd, 1);
  EXPECT_EQ(s.id(), "S-I30");
}

TEST(Hotplug, SI30QueuesToACpuThatHasNeverBeenUp) {
  HotplugScript s;
  s.view.set_online(1, false);
  s.start().on(0, 10).add(&csd, 1);
  EXPECT_EQ(s.id(), "S-I30");
}

TEST(Hotplug, SI30LegalOffAndOn) {
  HotplugScript s;
  s.on(0, 10).add(&csd, 1);
  die(s, 1).take();
  died(s, 1).take().ev(mev::cpu_dead, nullptr, 1);  // flushes of an empty queue
  s.on(1, 1).go_online(1).on(0, 10).add(&csd, 1);   // interrupts are off there still
  s.on(1, 1, 1).take();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Hotplug, SI30OtherCpusAreNotConcerned) {
  HotplugScript s;
  died(die(s, 1), 1).on(0, 10).add(&csd, 2);
  EXPECT_EQ(s.id(), "");
}

// ---- S-I31

// The current CPU claims the work and puts it on a list of its own.
HotplugScript& raise(HotplugScript& s, unsigned cpu, smp::irq_work* work, void** list) {
  s.ev(tp::irq_work_queue, work, cpu, 1);
  *list = work;
  return s.ev(eev::rmw, list, 0, reinterpret_cast<uint64_t>(work));
}
HotplugScript& take_list(HotplugScript& s, void** list) {
  *list = nullptr;
  return s.ev(eev::rmw, list, 1, 0);
}

TEST(Hotplug, SI31WorksAreLeft) {
  for (const bool lazy : {false, true}) {
    HotplugScript s;
    void* lists[2]{};
    raise(s.on(1, 11), 1, &works[0], &lists[0]);
    raise(s, 1, &works[1], &lists[1]);
    die(s, 1).flush_end();
    take_list(s, &lists[lazy ? 0 : 1]);
    died(s, 1);
    EXPECT_EQ(s.id(), "S-I31");
  }
}

TEST(Hotplug, SI31WorkRaisedByACallbackOfTheDyingFlushIsLeft) {
  HotplugScript s;
  void* list = nullptr;
  die(s, 1).flush_begin().take().enter(&csd);
  raise(s, 1, &works[0], &list).leave(&csd).flush_end();
  died(s, 1);
  EXPECT_EQ(s.id(), "S-I31");
}

TEST(Hotplug, SI31WorksAreTaken) {
  HotplugScript s;
  void* list = nullptr;
  raise(s.on(1, 11), 1, &works[0], &list);
  die(s, 1).flush_end();
  take_list(s, &list);
  raise(s, 1, &works[1], &list);  // by a work: it stays until the CPU is back
  died(s, 1);
  s.on(1, 1).go_online(1);
  take_list(s, &list);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Hotplug, SI31WorkThatIsClaimedHereAndRaisedElsewhere) {
  HotplugScript s;
  void *here = nullptr, *there = nullptr;
  s.on(1, 11).ev(tp::irq_work_queue, &works[0], 1, 1);  // preempted, and moved to CPU 2
  die(s, 1).flush_end();
  died(s, 1);
  s.on(2, 11).ev(eev::rmw, &there, 0, reinterpret_cast<uint64_t>(&works[0]));
  raise(s.on(3, 13), 3, &works[1], &here);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Hotplug, SI31WorkForAnotherCpuTravelsOverItsQueue) {
  HotplugScript s;
  s.on(1, 11).ev(tp::irq_work_queue, &works[0], 2, 1).add(&works[0], 2);
  s.ev(tp::irq_work_queue, &works[0], 2, 0);  // claimed already: not queued
  die(s, 1).flush_end();
  died(s, 1);
  EXPECT_EQ(s.id(), "");
}

// ---- S-I39

TEST(Hotplug, SI39FailedPrepareLeavesAnObject) {
  HotplugScript s;
  s.on(0, 10).ev(mev::hotplug_state, nullptr, 1, sd_cpuhp_smpcfd_prepare).ev(eev::alloc, &csd, 64);
  s.ev(eev::alloc, nullptr, 64).ev(tp::smpcfd_prepare, nullptr, 1, ENOMEM);
  EXPECT_EQ(s.id(), "S-I39");
}

TEST(Hotplug, SI39FailedPrepareFreesWhatItHad) {
  HotplugScript s;
  s.on(0, 10).ev(mev::hotplug_state, nullptr, 1, sd_cpuhp_smpcfd_prepare).ev(eev::alloc, &csd, 64);
  s.on(0, 10, 1)
      .ev(eev::alloc, &works[0], 64)
      .on(2, 12)
      .ev(eev::alloc, &works[1], 64);  // others' business
  s.on(0, 10)
      .ev(eev::alloc, nullptr, 64)
      .ev(eev::free, &csd, 64)
      .ev(tp::smpcfd_prepare, nullptr, 1, ENOMEM);
  EXPECT_EQ(s.id(), "");
}

TEST(Hotplug, SI39SuccessKeepsIts) {
  HotplugScript s;
  s.on(0, 10).ev(mev::hotplug_state, nullptr, 1, sd_cpuhp_smpcfd_prepare).ev(eev::alloc, &csd, 64);
  s.ev(tp::smpcfd_prepare, nullptr, 1, 0).ev(mev::hotplug_state, nullptr, 1, sd_cpuhp_rcutree_prep);
  EXPECT_EQ(s.id(), "");
}

void buried(HotplugScript& s, int frees, bool to_the_end) {
  s.on(0, 10).ev(mev::hotplug_state, nullptr, 1, sd_cpuhp_smpcfd_prepare);
  s.ev(tp::smpcfd_dead, nullptr, 1);
  for (int i = 0; i < frees; ++i) s.ev(eev::free, &works[i], 64);
  s.on(2, 12).ev(eev::free, &csd, 64);  // others' business
  s.on(0, 10);
  if (to_the_end) {
    s.ev(mev::hotplug_end, nullptr, 1);
  } else {
    s.ev(mev::hotplug_state, nullptr, 1, sd_cpuhp_offline);
  }
}

TEST(Hotplug, SI39DeadCpuLeavesAMask) {
  for (const bool to_the_end : {false, true}) {
    HotplugScript s;
    s.view.patches.set(static_cast<unsigned>(series::Patch::p05));
    buried(s, 1, to_the_end);
    EXPECT_EQ(s.id(), "S-I39");
  }
}

TEST(Hotplug, SI39CsdsStayFromP05OnOnly) {
  for (const bool p05 : {false, true}) {
    HotplugScript s;
    if (p05) s.view.patches.set(static_cast<unsigned>(series::Patch::p05));
    buried(s, 2, true);
    EXPECT_EQ(s.id(), p05 ? "" : "S-I39");
  }
  HotplugScript s;
  buried(s, 3, true);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I34

TEST(Hotplug, SI34EntriesOnAnOfflineCpu) {
  Script<Hotplug> s;
  call_single_data_t csd{};
  s.on(0, 10).go_offline(1);
  s.on(1, 11, 1).ev(tp::flush_begin, nullptr, 1).ev(tp::flush_taken, &csd);
  EXPECT_EQ(s.id(), "S-I34");
}

TEST(Hotplug, SI34TheDyingFlushAndWhoFindsNothing) {
  Script<Hotplug> s;
  call_single_data_t csd{};
  s.on(1, 11, 1).ev(tp::flush_begin, nullptr, 1).ev(tp::flush_taken, &csd).flush_end();
  s.go_offline(1).ev(tp::smpcfd_dying_begin, nullptr, 1);
  s.ev(tp::flush_begin, nullptr, 0).ev(tp::flush_taken, &csd).flush_end();
  s.ev(tp::smpcfd_dying_end, nullptr, 1);
  s.ev(tp::flush_begin, nullptr, 1).ev(tp::flush_taken).flush_end();  // an IPI that came late
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

}  // namespace
}  // namespace sd::oracle::testing
