// In the tsan flavour: what orders a call's data is seen, and so is what does not.
#include "core/smp/test_storm.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

#ifdef SD_TSAN
class Races : public ::testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, Races,
                         ::testing::Values(Bug::h39, Bug::no_acquire_in_wait,
                                           Bug::relaxed_llist_add),
                         [](const auto& param) { return std::string(bugs::info(param.param).id); });

// The interleaving is sequentially consistent, so nothing goes wrong; but nothing ensures that it does not.
TEST_P(Races, AreFoundInAnExecutionThatGoesWell) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Config config = make_config(3);
  set_bug(&config, GetParam());
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
