// In the tsan flavour: what orders a call's data is seen, and so is what does not.
#include "core/smp/test_storm.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

#ifdef SD_TSAN
// Each with the wait of csd-lock debugging too, which has a barrier of its own.
class Races : public ::testing::TestWithParam<std::tuple<Bug, bool>> {};
INSTANTIATE_TEST_SUITE_P(Bugs, Races,
                         ::testing::Combine(::testing::Values(Bug::h39, Bug::no_acquire_in_wait,
                                                              Bug::relaxed_llist_add),
                                            ::testing::Bool()),
                         [](const auto& param) {
                           return std::string(bugs::info(std::get<0>(param.param)).id) +
                                  (std::get<1>(param.param) ? "CsdDebug" : "");
                         });

// The interleaving is sequentially consistent, so nothing goes wrong; but nothing
// ensures that it does not.
TEST_P(Races, AreFoundInAnExecutionThatGoesWell) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Config config = make_config(3);
  set_bug(&config, std::get<0>(GetParam()));
  set_param(&config, Param::csdlock_debug, std::get<1>(GetParam()));
  EXPECT_EXIT(
      {
        const std::string text = storm(config, 50);
        exit(text.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(66), "data race");
}
#endif

}  // namespace
}  // namespace sd::smp
