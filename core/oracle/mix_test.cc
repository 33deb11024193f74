// Oracles on the real stack: safe series are clean, and each bug of the bank is found by an oracle
// that it names.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/oracle/test_mix.h"

namespace sd::oracle {
namespace {

using testing::Attached;
using testing::Mix;
using testing::run_mix_once;

constexpr const char* kStrategies[] = {"random", "pct:3", "pos", "mix"};

class CleanSeries : public ::testing::TestWithParam<const char*> {};

TEST_P(CleanSeries, RandomMixesWithHotplugViolateNothing) {
  const Attached attached;
  const Completion* completion = completion_of(attached.oracles);
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    machine::Config config = smp::testing::make_config(2 + seed % 4, GetParam());
    config.preempt_full = seed % 5 != 0;
    config.hotplug_fail = seed % 3 == 0 ? 4 : 0;
    config.boot_cpus = seed % 7 == 0 ? 1 : 0;
    if (seed % 11 == 0) smp::testing::set_param(&config, kernel::Param::csdlock_debug, 1);
    const Mix mix{.callers = 2 + static_cast<unsigned>(seed % 3),
                  .plugs = static_cast<unsigned>(seed % 4)};
    const char* strategy = kStrategies[seed % std::size(kStrategies)];
    const machine::Outcome outcome = run_mix_once(config, mix, strategy, seed);
    ASSERT_FALSE(outcome.failed) << strategy << ", seed " << seed << ": "
                                 << smp::testing::text_of(outcome)
                                 << describe_hang(attached.oracles);
    for (unsigned kind = 0; kind < kCallKinds; ++kind) {
      ASSERT_EQ(completion->counts().runs[kind], completion->counts().expected[kind])
          << seed << ' ' << kind;
    }
    ASSERT_EQ(completion->counts().unattributed, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Series, CleanSeries,
                         ::testing::Values("base", "base-6.17", "posted", "merged"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (!isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

// What a bug needs besides what the bank says.
Mix mix_for(const bugs::BugInfo& bug) {
  Mix mix{.callers = 4, .ops = 8, .plugs = bug.needs.hotplug ? 4u : 0u};
  switch (bug.bug) {
    case bugs::Bug::
        canary:  // its stack frame ends before the call does where that is in another one
      mix.kinds = 1u << testing::single_wait | 1u << testing::sleep_a_while;
      break;
    case bugs::Bug::h10:
    case bugs::Bug::maskless_tasks:
      mix.kinds = 1u << testing::each_wait | 1u << testing::many_wait;
      break;
    default:
      break;
  }
  return mix;
}

machine::Config config_for(const bugs::BugInfo& bug, const char* series) {
  machine::Config config = smp::testing::make_config(std::max(bug.needs.cpus, 3u), series);
  smp::testing::set_bug(&config, bug.bug);
  if (bug.needs.csdlock_debug) smp::testing::set_param(&config, kernel::Param::csdlock_debug, 1);
  if (bug.needs.allocated_masks)
    smp::testing::set_param(&config, kernel::Param::ipi_mask_inlined, 0);
  if (bug.needs.alloc_fail) config.alloc_fail = 3;
  return config;
}

#if defined(SD_ASAN)
constexpr bool kAsan = true;
#else
constexpr bool kAsan = false;
#endif

// Bugs of the stack that show with sequentially consistent memory, and that an oracle is to find
// first.
std::vector<bugs::Bug> bugs_for_oracles() {
  std::vector<bugs::Bug> list;
  for (const bugs::BugInfo& bug : bugs::all()) {
    if (bug.expected.empty() || bug.expected[0].substr(0, 3) != "S-I") continue;
    if (bug.bug == bugs::Bug::scf_many_unpinned || bug.needs.memory != bugs::Memory::sc) continue;
    // AddressSanitizer ends the process at the first use after free.
    if (kAsan && bugs::finds(bug, "use-after-free")) continue;
    list.push_back(bug.bug);
  }
  return list;
}

// ThreadSanitizer sees the data races that some of the bugs are, and says so before any oracle.
#if !defined(SD_TSAN)
class EveryBug : public ::testing::TestWithParam<bugs::Bug> {};

TEST_P(EveryBug, IsFoundByAnOracleThatTheBankNames) {
  const bugs::BugInfo& bug = bugs::info(GetParam());
  const Attached attached;
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 20'000; ++seed) {
    const machine::Config config = config_for(bug, seed % 2 ? "base" : "merged");
    const char* strategy = kStrategies[seed % std::size(kStrategies)];
    const machine::Outcome outcome = run_mix_once(config, mix_for(bug), strategy, seed);
    if (!outcome.failed) continue;
    const std::string& id = outcome.failure.id;
    if (id.substr(0, 3) == "S-I" && bugs::finds(bug, id)) return;
    seen.insert(id);
  }
  FAIL() << bug.id << " " << bug.slug
         << ": none of its oracles spoke; seen: " << ::testing::PrintToString(seen);
}

INSTANTIATE_TEST_SUITE_P(Bank, EveryBug, ::testing::ValuesIn(bugs_for_oracles()),
                         [](const auto& info) { return bugs::info(info.param).id; });
#endif

// The same mixes without the bug, as far as their patches alone are no bug: clean.
std::vector<bugs::Bug> bugs_in_the_code() {
  std::vector<bugs::Bug> list = bugs_for_oracles();
  std::erase_if(list, [](bugs::Bug bug) {
    return !series::is_safe(config_for(bugs::info(bug), "base").patches);
  });
  return list;
}

class WithoutTheBug : public ::testing::TestWithParam<bugs::Bug> {};

TEST_P(WithoutTheBug, ItsMixIsClean) {
  const bugs::BugInfo& bug = bugs::info(GetParam());
  const Attached attached;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    machine::Config config = config_for(bug, seed % 2 ? "base" : "merged");
    config.bugs.reset();
    const machine::Outcome outcome =
        run_mix_once(config, mix_for(bug), kStrategies[seed % 4], seed);
    ASSERT_FALSE(outcome.failed) << "seed " << seed << ": " << smp::testing::text_of(outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(Bank, WithoutTheBug, ::testing::ValuesIn(bugs_in_the_code()),
                         [](const auto& info) { return bugs::info(info.param).id; });

TEST(Hang, IsDescribedByTheCallsThatWait) {
  const Attached attached;
  machine::Config config = smp::testing::make_config(2, "merged");
  smp::testing::set_bug(&config, bugs::Bug::h03);
  const auto body = [] {
    sd_cpu_down(1, "test");
    smp::smp_call_function_single(1, testing::count_run, nullptr, false);
    smp::smp_call_function_single(1, testing::count_run, nullptr, false);
  };
  const machine::Outcome outcome = smp::testing::run_with(config, "calm", 1, body);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.id, "hang");
  const std::string text = describe_hang(attached.oracles);
  EXPECT_NE(
      text.find("smp_call_function_single(no wait) of init on CPU 0 waits to lock cpu0.csd_data"),
      std::string::npos)
      << text;
}

// Oracles never influence the run.
TEST(Oracles, LeaveTheTraceAsItIs) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const machine::Config config = smp::testing::make_config(3, "merged");
    const Mix mix{.plugs = 2};
    const machine::Outcome without = run_mix_once(config, mix, "random", seed);
    const Attached attached;
    const machine::Outcome with = run_mix_once(config, mix, "random", seed);
    const machine::Outcome again = run_mix_once(config, mix, "random", seed);
    ASSERT_FALSE(with.failed);
    EXPECT_EQ(with.trace_hash, without.trace_hash);
    EXPECT_EQ(with.trace_hash, again.trace_hash);
    EXPECT_EQ(with.steps, without.steps);
  }
}

}  // namespace
}  // namespace sd::oracle
