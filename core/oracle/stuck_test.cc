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

}  // namespace
}  // namespace sd::oracle::testing
