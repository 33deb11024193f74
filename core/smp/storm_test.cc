// Safe series are clean at random, with hotplug; and the same search finds what is not.
#include "core/smp/test_storm.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

// Every subset of P01 to P08 whose prerequisites are met, on every level and in both forms.
std::vector<series::PatchSet> safe_series() {
  std::vector<series::PatchSet> sets;
  for (unsigned bits = 0; bits < 1u << 8; ++bits) {
    series::PatchSet patches;
    for (unsigned i = 0; i < 8; ++i)
      patches[static_cast<unsigned>(Patch::p01) + i] = (bits >> i) & 1;
    if (!series::is_safe(patches)) continue;
    for (bool merged : {false, true}) {
      if (merged && !series::has(patches, Patch::p06)) continue;
      series::PatchSet form = patches;
      if (merged) form |= series::bit(Patch::p06_merged);
      sets.push_back(form);
      sets.push_back(form | series::bit(Patch::v6_17));
      sets.push_back(form | series::bit(Patch::v6_17) | series::bit(Patch::v7x));
    }
  }
  return sets;
}

// Executions cost ten times as much under a sanitizer.
#if defined(SD_ASAN) || defined(SD_TSAN)
constexpr unsigned kSlow = 10;
#else
constexpr unsigned kSlow = 1;
#endif

std::string name_of(const Config& config) {
  std::string name;
  for (const series::PatchInfo& patch : series::all()) {
    if (series::has(config.patches, patch.patch)) name += std::string(patch.name) + " ";
  }
  if (!config.preempt_full) name += "preempt=none ";
  if (config.params[static_cast<unsigned>(Param::csdlock_debug)]) name += "csdlock_debug ";
  return name;
}

struct Model {
  bool preempt;
  bool debug;
  bool allocated_masks;
};
constexpr Model kModels[] = {{true, false, false},
                             {true, true, false},
                             {true, false, true},
                             {false, false, false},
                             {false, true, false}};

Config with_model(Config config, const Model& model) {
  config.preempt_full = model.preempt;
  set_param(&config, Param::csdlock_debug, model.debug);
  if (model.allocated_masks) set_param(&config, Param::ipi_mask_inlined, 0);
  return config;
}

TEST(Storm, NamedSeriesAreClean) {
  for (const series::NamedSet& set : series::named_sets()) {
    for (const Model& model : kModels) {
      const Config config = with_model(make_config(3, set.patches), model);
      ASSERT_EQ(storm(config, 500 / kSlow), "") << name_of(config);
    }
  }
}

TEST(Storm, NamedSeriesAreCleanWithFailuresOfHotplugAndAllocation) {
  for (const series::NamedSet& set : series::named_sets()) {
    for (const Model& model : kModels) {
      Config config = with_model(make_config(4, set.patches), model);
      config.hotplug_fail = 3;
      config.alloc_fail = 16;
      ASSERT_EQ(storm(config, 150 / kSlow, {.plugs = 4}), "") << name_of(config);
    }
  }
}

TEST(Storm, LongEverySafeSubsetIsClean) {
  for (const series::PatchSet& patches : safe_series()) {
    for (const Model& model : kModels) {
      const Config config = with_model(make_config(3, patches), model);
      ASSERT_EQ(storm(config, 100 / kSlow, {.plugs = 3}), "") << name_of(config);
    }
  }
}

TEST(Storm, IsRepeatable) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    uint64_t hash[2];
    for (uint64_t& h : hash) {
      Storm storm(StormOptions{});
      h = run_with(make_config(3), "mix", seed, [&storm] { storm(); }).trace_hash;
    }
    EXPECT_EQ(hash[0], hash[1]) << seed;
  }
}

#if !defined(SD_ASAN) && !defined(SD_TSAN)  // which end the process at once
// Bugs that show from outside, without an oracle: by what ran, or by a hang, a WARN, the
// heap. Those that make a csd be used when it is gone, or linked to itself, need one to
// be stopped in time.
class FromOutside : public ::testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Storm, FromOutside,
                         ::testing::Values(Bug::h03, Bug::h06, Bug::h10, Bug::h11, Bug::h42,
                                           Bug::sync_unlock_before, Bug::local_double_unlock,
                                           Bug::sync_flag_after_add, Bug::mask_ipi_misses_last,
                                           Bug::polling_not_tested, Bug::polling_flush_early,
                                           Bug::flush_drops_async, Bug::flush_irqs_on,
                                           Bug::enxio_although_queued, Bug::enxio_leaks_preempt,
                                           Bug::no_online_check, Bug::dying_no_irq_work,
                                           Bug::task_mask_shared_after_fork, Bug::maskless_tasks),
                         [](const auto& param) { return std::string(bugs::info(param.param).id); });

TEST_P(FromOutside, TheBugIsFound) {
  const bugs::BugInfo& info = bugs::info(GetParam());
  Config config = make_config(std::max(3u, info.needs.cpus));
  if (info.needs.allocated_masks) set_param(&config, Param::ipi_mask_inlined, 0);
  set_bug(&config, GetParam());
  StormOptions options{.tasks = 4, .plugs = 3};
  if (GetParam() == Bug::h06 || GetParam() == Bug::dying_no_irq_work)
    options.mix = {StormOp::relay};
  const std::string found = storm(config, 10000, options);
  EXPECT_NE(found, "");
  RecordProperty("found", found.substr(0, found.find('\n')));
}
#endif

}  // namespace
}  // namespace sd::smp
