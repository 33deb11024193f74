#include "core/oracle/softirq.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using SoftirqScript = Script<Softirq>;

TEST(Softirq, LostWhenTheCpuHalts) {
  SoftirqScript s;
  s.view.softirqs[1] = 4;
  s.on(0, 0).ev(mev::idle_halt);
  EXPECT_EQ(s.id(), "");
  s.on(1, 1).ev(mev::idle_halt);
  EXPECT_EQ(s.id(), "softirq-lost");
}

TEST(Softirq, NotLostIfAnInterruptIsDue) {
  SoftirqScript s;
  s.view.softirqs[1] = 4;
  s.view.pending[1] = true;
  s.on(1, 1).ev(mev::idle_halt);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Softirq, LostAtTheEndUnlessTheCpuIsDown) {
  for (const bool online : {false, true}) {
    SoftirqScript s;
    s.view.softirqs[1] = 4;
    s.view.set_online(1, online);
    s.finish();
    EXPECT_EQ(s.id(), online ? "softirq-lost" : "");
  }
}

}  // namespace
}  // namespace sd::oracle::testing
