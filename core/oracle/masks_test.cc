#include "core/oracle/masks.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

const smp::cpumask kMask{};
const call_args kWaits = many_args(&kMask, true);
const call_args kNoWait = many_args(&kMask, false);

class MasksScript : public Script<Masks> {
 public:
  // A call begins, on the CPU of on(), and takes its snapshot.
  MasksScript& dispatch(unsigned cpu, unsigned task, const call_args& args, const void* mask) {
    on(cpu, task).begin(args).pin().ev(tp::snapshot, mask);
    return *this;
  }
  MasksScript& as(unsigned cpu, unsigned task) {
    on(cpu, task);
    return *this;
  }
  MasksScript& unpinned() {
    unpin();
    return *this;
  }
  MasksScript& to(unsigned target, unsigned type = kSync) {
    queue(&csd[target], target, type);
    return *this;
  }
  MasksScript& waited(unsigned target) {
    ev(tp::csd_wait_begin, &csd[target]).ev(tp::csd_wait_end, &csd[target]);
    return *this;
  }
  const void* of_cpu(unsigned cpu) { return &view.masks[cpu]; }

  call_single_data_t csd[4]{};
  smp::cpumask own{};  // of a task
};

// ---- S-I45

TEST(Masks, SI45WrittenWhileAnotherCallWaits) {
  MasksScript s;
  s.dispatch(0, 10, kWaits, s.of_cpu(0)).to(1).unpin();
  s.dispatch(0, 12, kWaits, s.of_cpu(0));
  EXPECT_EQ(s.id(), "S-I45");
}

TEST(Masks, SI45WrittenInTheMiddleOfADispatch) {
  MasksScript s;
  s.dispatch(0, 10, kNoWait, s.of_cpu(0)).to(1, kAsync);
  s.dispatch(0, 12, kNoWait, s.of_cpu(0));
  EXPECT_EQ(s.id(), "S-I45");
}

TEST(Masks, SI45OneCallAfterTheOther) {
  MasksScript s;
  // The last read is behind the last wait, or at the end of the section of who has
  // nothing to wait for.
  s.dispatch(0, 10, kWaits, s.of_cpu(0)).to(1).to(2).waited(1).waited(2);
  s.dispatch(0, 11, kWaits, s.of_cpu(0)).unpin();
  s.dispatch(0, 12, kNoWait, s.of_cpu(0)).to(1, kAsync).unpin();
  s.dispatch(0, 13, kWaits, s.of_cpu(0)).to(1).unpin();
  s.dispatch(1, 14, kWaits, s.of_cpu(1)).to(2).unpin();  // another CPU's
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I44

TEST(Masks, SI44UsedByACallWithinACall) {
  MasksScript s;
  s.dispatch(0, 10, kWaits, &s.own).to(1);
  s.dispatch(0, 10, kWaits, &s.own);  // from cond_func
  EXPECT_EQ(s.id(), "S-I44");
}

TEST(Masks, SI44UsedByAnotherTask) {
  for (const bool at_once : {false, true}) {
    MasksScript s;
    s.dispatch(0, 10, kWaits, &s.own).to(1).unpin();
    if (!at_once) s.waited(1).end();
    s.dispatch(2, 12, kWaits, &s.own);
    EXPECT_EQ(s.id(), "S-I44");
  }
}

TEST(Masks, SI44FreedWhileItsTaskLives) {
  MasksScript s;
  s.dispatch(0, 10, kWaits, &s.own).to(1).unpinned().waited(1).end();
  s.on(1, 12).ev(eev::free, &s.own);
  EXPECT_EQ(s.id(), "S-I44");
}

TEST(Masks, SI44FreedWithItsTaskAndGivenToAnother) {
  MasksScript s;
  s.dispatch(0, 10, kWaits, &s.own).to(1).unpinned().waited(1).end();
  s.dispatch(3, 10, kWaits, &s.own).to(1).unpinned().waited(1).end();  // again, elsewhere
  s.on(3, 10).ev(mev::task_end).on(1, 12).ev(eev::free, &s.own);
  s.dispatch(1, 13, kWaits, &s.own).to(2).unpin();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I33

TEST(Masks, SI33ReadByAWaiterAfterItsCpuHasGone) {
  MasksScript s;
  s.dispatch(0, 10, kWaits, s.of_cpu(0)).to(1).to(2).unpin();
  s.on(3, 11).ev(tp::smpcfd_dead, nullptr, 0);
  s.on(1, 10).ev(tp::csd_wait_begin, &s.csd[1]);
  EXPECT_EQ(s.id(), "S-I33");
}

TEST(Masks, SI33UsedBeforeItsCpuIsPrepared) {
  MasksScript s;
  s.view.set_online(0, false);
  s.start();
  s.dispatch(0, 10, kWaits, s.of_cpu(0));
  EXPECT_EQ(s.id(), "S-I33");
}

TEST(Masks, SI33FailedPreparationIsNone) {
  MasksScript s;
  s.on(3, 11).ev(tp::smpcfd_dead, nullptr, 0).ev(tp::smpcfd_prepare, nullptr, 0, ENOMEM);
  s.dispatch(0, 10, kWaits, s.of_cpu(0));
  EXPECT_EQ(s.id(), "S-I33");
}

TEST(Masks, SI33TasksWithAMaskAndPreparedCpus) {
  MasksScript s;
  s.dispatch(0, 10, kWaits, &s.own).to(1).to(2).unpin();
  s.on(3, 11).ev(tp::smpcfd_dead, nullptr, 0);
  s.as(1, 10).waited(1).waited(2).end();
  s.on(3, 11).ev(tp::smpcfd_prepare, nullptr, 0, 0);
  s.dispatch(0, 12, kWaits, s.of_cpu(0)).to(1);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

// ---- S-I18

TEST(Masks, SI18WaitsForAFreedCsd) {
  for (const EventId wait : {tp::csd_lock_begin, tp::csd_wait_begin}) {
    MasksScript s;
    s.view.can_read = false;
    s.on(0, 10).ev(wait, &s.csd[1]);
    EXPECT_EQ(s.id(), "S-I18");
  }
}

TEST(Masks, SI18ReadsAFreedMask) {
  MasksScript s;
  s.dispatch(0, 10, kWaits, &s.own).to(1).unpin().ev(tp::csd_wait_begin, &s.csd[1]);
  s.view.can_read = false;
  s.ev(tp::csd_wait_end, &s.csd[1]);
  EXPECT_EQ(s.id(), "S-I18");
}

TEST(Masks, SI18CsdsMoveFromP05On) {
  for (const bool kept : {false, true}) {
    MasksScript s;
    call_single_data_t other[4]{};
    s.view.csds[1] = s.csd;
    if (kept) s.view.patches.set(static_cast<unsigned>(series::Patch::p05));
    s.start();
    s.on(0, 10).ev(tp::smpcfd_dead, nullptr, 1);
    s.ev(tp::smpcfd_prepare, nullptr, 1, 0);  // where they were
    EXPECT_EQ(s.id(), "");
    s.view.csds[1] = other;
    s.ev(tp::smpcfd_dead, nullptr, 1).ev(tp::smpcfd_prepare, nullptr, 1, 0);
    EXPECT_EQ(s.id(), kept ? "S-I18" : "");
  }
}

TEST(Masks, SI18TheFirstAllocationMayBeAnywhere) {
  MasksScript s;
  s.view.patches.set(static_cast<unsigned>(series::Patch::p05));
  s.view.set_online(1, false);
  s.start();
  s.view.csds[1] = s.csd;
  s.on(0, 10).ev(tp::smpcfd_prepare, nullptr, 1, 0);
  EXPECT_EQ(s.id(), "");
}

}  // namespace
}  // namespace sd::oracle::testing
