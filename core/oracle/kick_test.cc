#include "core/oracle/kick.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

class KickScript : public Script<Kick> {
 public:
  KickScript& kick() {
    on(0, 10).ev(tp::kick_begin, nullptr, reinterpret_cast<uint64_t>(func));
    return *this;
  }
  KickScript& fence(unsigned kind = sd_mb) {
    ev(eev::fence, nullptr, kind);
    return *this;
  }
  KickScript& passes(unsigned cpu, void (*f)(void*) = func) {
    on(cpu, cpu, 1).leave(&csd, f);
    return *this;
  }
  KickScript& returns(unsigned cpu = 0) {
    on(cpu, 10).ev(tp::kick_end);
    return *this;
  }

  call_single_data_t csd{};
};

TEST(Kick, SI9EveryOtherCpuHasPassed) {
  KickScript s;
  s.kick().fence().pin();
  s.passes(1).passes(2).passes(3).returns();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Kick, SI9ACpuHasNot) {
  KickScript s;
  s.kick().fence().pin();
  s.passes(1).passes(3).passes(2, other_func).returns();
  EXPECT_EQ(s.id(), "S-I9");
}

TEST(Kick, SI9PassedBeforeTheBarrier) {
  KickScript s;
  s.kick();
  s.passes(2).on(0, 10);
  s.fence().pin();
  s.passes(1).passes(3).returns();
  EXPECT_EQ(s.id(), "S-I9");
}

TEST(Kick, SI9NoFullBarrier) {
  KickScript s;
  s.kick().fence(sd_wmb).pin();
  s.passes(1).passes(2).passes(3).returns();
  EXPECT_EQ(s.id(), "S-I9");
}

TEST(Kick, SI9CpusThatCameOrWentAndTheOneOfTheDispatch) {
  KickScript s;
  s.view.set_online(3, false);
  s.start();
  s.kick().fence().on(1, 10).pin();  // it has moved to CPU 1 meanwhile
  s.on(2, 11).go_offline(2).go_online(3).go_online(2);
  s.passes(0).returns(1);
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Kick, SI9TwoAtOnce) {
  KickScript s;
  s.kick().fence().pin();
  s.passes(1).passes(2);
  s.on(3, 13).ev(tp::kick_begin, nullptr, reinterpret_cast<uint64_t>(func));
  s.fence().pin();
  s.passes(3).returns();
  EXPECT_EQ(s.id(), "") << s.failure().message;
  s.passes(0).passes(1).on(3, 13).ev(tp::kick_end);
  EXPECT_EQ(s.id(), "S-I9");  // CPU 2 passed for the first one only
}

}  // namespace
}  // namespace sd::oracle::testing
