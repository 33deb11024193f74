#include "core/oracle/cpuhp.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

class CpuhpScript : public Script<Cpuhp> {
 public:
  CpuhpScript& as(unsigned cpu, unsigned task, unsigned irq_depth = 0) {
    on(cpu, task, irq_depth);
    return *this;
  }
  CpuhpScript& depth(unsigned after, bool down) {
    ev(down ? mev::preempt_enable : mev::preempt_disable, nullptr, after);
    return *this;
  }
  // From one task to another, on the CPU of as().
  CpuhpScript& switched(unsigned from, unsigned to) {
    ev(mev::sched_switch, nullptr, from, to);
    return *this;
  }
  CpuhpScript& take_down(unsigned cpu) {
    run_stopper(cpu, "take_cpu_down");
    return *this;
  }
  CpuhpScript& run_stopper(unsigned cpu, const char* what) {
    named(what, mev::stop_run, cpu);
    return *this;
  }
  CpuhpScript& operation(unsigned cpu, bool up) {
    ev(mev::hotplug_begin, nullptr, cpu, up);
    return *this;
  }
  CpuhpScript& ends(unsigned cpu, int error) {
    ev(mev::hotplug_end, nullptr, cpu, static_cast<uint64_t>(error));
    return *this;
  }
};

// ---- S-I32

TEST(Cpuhp, SI32TaskWithPreemptionOff) {
  CpuhpScript s;
  s.as(1, 11).depth(1, false).switched(11, 21);
  s.as(0, 20).take_down(2);
  EXPECT_EQ(s.id(), "S-I32");
}

TEST(Cpuhp, SI32InterruptHandlerActive) {
  CpuhpScript s;
  s.as(1, 11, 1).ev(mev::irq_enter, nullptr, sd_vec_call_function);
  s.as(0, 20).take_down(2);
  EXPECT_EQ(s.id(), "S-I32");
}

TEST(Cpuhp, SI32StoppersAndIdleTasksMayAndWhoIsDoneToo) {
  CpuhpScript s;
  s.as(1, 11).depth(1, false).depth(0, true).switched(11, 21);  // over
  s.as(1, 11, 1).ev(mev::irq_enter, nullptr, 0).ev(mev::irq_exit, nullptr, 0);
  s.as(2, 2).depth(2, false).depth(1, true).switched(2, 22);  // idle, with its base depth
  s.as(0, 12).switched(12, 20).as(0, 20).depth(1, false).take_down(2);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Cpuhp, SI32OtherFunctionsOfStoppersAreNotJudged) {
  CpuhpScript s;
  s.as(1, 11).depth(1, false).switched(11, 21);
  s.as(0, 20).run_stopper(2, "patch_text");
  EXPECT_EQ(s.id(), "");
}

// ---- S-I36

TEST(Cpuhp, SI36MaskChangesUnderAReader) {
  for (const EventId change : {mev::cpu_online, mev::cpu_offline, mev::cpu_active}) {
    CpuhpScript s;
    s.as(0, 10).ev(mev::cpus_read_locked).ev(mev::cpus_read_locked).ev(mev::cpus_read_unlocked);
    s.as(1, 11).ev(change, nullptr, 1);
    EXPECT_EQ(s.id(), "S-I36");
  }
}

TEST(Cpuhp, SI36MaskChangesAfterTheReader) {
  CpuhpScript s;
  s.as(0, 10).ev(mev::cpus_read_locked).ev(mev::cpus_read_unlocked);
  s.as(1, 11).ev(mev::cpu_active, nullptr, 1).go_offline(1);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I38

TEST(Cpuhp, SI38LegalEndings) {
  CpuhpScript s;
  s.as(0, 10).operation(1, false).go_offline(1);
  s.ends(1, 0).operation(1, true).ends(1, ENOMEM);    // never came up
  s.operation(1, true).go_online(1).go_offline(1);    // came up, and was rolled back
  s.ends(1, EINVAL).operation(1, true).go_online(1);  // at last
  s.ends(1, 0).operation(1, false).ends(1, ENOSPC);   // __cpu_disable() refuses
  s.operation(1, false).go_offline(1);                // fails when it is dead already
  s.ends(1, EIO);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Cpuhp, SI38OfflineAfterARollback) {
  CpuhpScript s;
  s.as(0, 10).operation(1, false);
  s.view.set_online(1, false);
  s.ends(1, EINVAL);
  EXPECT_EQ(s.id(), "S-I38");
}

TEST(Cpuhp, SI38NotActiveAfterARollback) {
  CpuhpScript s;
  s.as(0, 10).operation(1, false);
  s.view.active = false;
  s.ends(1, EINVAL);
  EXPECT_EQ(s.id(), "S-I38");
}

TEST(Cpuhp, SI38OnlineAlthoughBringingUpFailed) {
  CpuhpScript s;
  s.view.set_online(1, false);
  s.start();
  s.as(0, 10).operation(1, true).go_online(1);
  s.ends(1, ENOMEM);
  EXPECT_EQ(s.id(), "S-I38");
}

TEST(Cpuhp, SI38OnlineAlthoughTakenDown) {
  CpuhpScript s;
  s.as(0, 10).operation(1, false).ends(1, 0);
  EXPECT_EQ(s.id(), "S-I38");
}

}  // namespace
}  // namespace sd::oracle::testing
