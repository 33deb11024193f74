#include "core/oracle/stuck.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using StuckScript = Script<Stuck>;

call_single_data_t csd{}, other{};

TEST(Stuck, SI60ComplaintsThatEnd) {
  StuckScript s;
  s.on(0, 10).ev(tp::csd_stuck, &csd, 1, 5000).ev(tp::csd_stuck, &csd, 1, 9000);  // again
  s.on(1, 11).ev(tp::csd_stuck, &csd, 2, 5000);
  s.ev(tp::csd_unstuck, &csd, 2).on(0, 10).ev(tp::csd_unstuck, &csd, 1).finish();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Stuck, SI60CounterIsNotZeroAfterwards) {
  StuckScript s;
  s.on(0, 10).ev(tp::csd_stuck, &csd, 1).ev(tp::csd_unstuck, &csd, 1);
  s.view.stuck = true;
  s.finish();
  EXPECT_EQ(s.id(), "S-I60");
}

TEST(Stuck, SI60OutstandingAtTheEnd) {
  for (const bool counted : {false, true}) {
    StuckScript s;
    s.on(0, 10).ev(tp::csd_stuck, &csd, 1);
    s.view.stuck = counted;
    s.finish();
    EXPECT_EQ(s.id(), counted ? "" : "S-I60");
  }
}

TEST(Stuck, SI60UnstuckWithoutAComplaint) {
  StuckScript s;
  s.on(0, 10).ev(tp::csd_stuck, &csd, 1).ev(tp::csd_unstuck, &csd, 2);
  EXPECT_EQ(s.id(), "S-I60");
}

TEST(Stuck, SI60UnstuckTwice) {
  StuckScript s;
  s.on(0, 10).ev(tp::csd_stuck, &csd, 1).ev(tp::csd_unstuck, &csd, 1).ev(tp::csd_unstuck, &csd, 1);
  EXPECT_EQ(s.id(), "S-I60");
}

TEST(Stuck, SI60TwoComplaintsUnderOneNumber) {
  StuckScript s;
  s.on(0, 10).ev(tp::csd_stuck, &csd, 1).ev(tp::csd_stuck, &other, 1);
  EXPECT_EQ(s.id(), "S-I60");
}

// The script's limit is 1000 ns.
StuckScript& switched(StuckScript& s, uint64_t ns, unsigned from, unsigned to) {
  s.at(ns).ev(mev::sched_switch, nullptr, from, to);
  return s;
}

TEST(Stuck, FalseAlarmAfterTimeOffTheCpu) {
  StuckScript s;
  s.on(0, 10);
  switched(s, 2000, 10, 11);
  switched(s, 2900, 11, 10);
  s.at(3100).ev(tp::csd_stuck, &csd, 1, 1200);  // waits since 1900, polled for 300
  EXPECT_EQ(s.id(), "csd-false-alarm");
}

TEST(Stuck, AlarmAlthoughItWasOffTheCpuForATime) {
  StuckScript s;
  s.on(0, 10);
  switched(s, 2000, 10, 11);
  switched(s, 2900, 11, 10);
  s.at(4000).ev(tp::csd_stuck, &csd, 1, 2100);  // waits since 1900, polled for 1200
  s.at(9000).ev(tp::csd_stuck, &csd, 1, 7100);  // again
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Stuck, AlarmOfOneThatWasOffTheCpuBeforeItWaited) {
  StuckScript s;
  s.on(0, 10);
  switched(s, 2000, 10, 11);
  switched(s, 2900, 11, 10);
  s.at(4100).ev(tp::csd_stuck, &csd, 1, 1100);  // waits since 3000
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

}  // namespace
}  // namespace sd::oracle::testing
