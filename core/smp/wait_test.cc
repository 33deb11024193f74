// In which depth of preempt_disable() a call waits: that is what the patches are about.
#include "core/smp/test_holder.h"
#include "core/smp/trace.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

// Notes the depth at the beginning of every wait for a completion.
class Depths : public engine::Observer {
 public:
  const char* name() const override { return "depths"; }
  std::vector<engine::EventId> interests() const override { return {tp::csd_wait_begin}; }
  void on_begin() override { depths.clear(); }
  void on_event(const engine::Event&) override { depths.push_back(sd_preempt_count()); }

  std::vector<unsigned> depths;
};

enum class Call { single, any, many, all, on_each };

void call(Call which) {
  const cpumask mask = mask_of({1});
  const auto nothing = [](void*) {};
  switch (which) {
    case Call::single:
      smp_call_function_single(1, nothing, nullptr, true);
      break;
    case Call::any:
      smp_call_function_any(&mask, nothing, nullptr, true);
      break;
    case Call::many:
      smp_call_function_many(&mask, nothing, nullptr, true);
      break;
    case Call::all:
      smp_call_function(nothing, nullptr, true);
      break;
    case Call::on_each:
      on_each_cpu(nothing, nullptr, true);
      break;
  }
}

unsigned depth_at_wait(Config config, Call which) {
  Depths depths;
  machine::trace().attach(&depths);
  const bool pin = which == Call::many && !series::has(config.patches, Patch::p06);
  const Outcome outcome = run_with(config, "calm", 1, [which, pin] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    if (pin) kernel::preempt_disable();
    call(which);
    if (pin) kernel::preempt_enable();
    SD_EXPECT(sd_preempt_count() == 0);
  });
  machine::trace().detach_all();
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
  EXPECT_EQ(depths.depths.size(), 1u);
  return depths.depths.empty() ? 99 : depths.depths[0];
}

series::PatchSet patches(std::initializer_list<Patch> list) {
  series::PatchSet set;
  for (Patch patch : list) set |= series::bit(patch);
  return set;
}

TEST(Wait, BaselineWaitsWithPreemptionOff) {
  for (const char* series : {"base", "base-6.17"}) {
    for (Call which : {Call::single, Call::any, Call::many, Call::all, Call::on_each}) {
      EXPECT_GT(depth_at_wait(make_config(2, series), which), 0u);
    }
  }
}

TEST(Wait, TheSeriesWaitsPreemptibly) {
  for (const char* series : {"posted", "merged"}) {
    for (Call which : {Call::single, Call::any, Call::many, Call::all, Call::on_each}) {
      EXPECT_EQ(depth_at_wait(make_config(2, series), which), 0u);
    }
  }
}

TEST(Wait, EachCallNeedsItsPatch) {
  const Config p02 = make_config(2, patches({Patch::p02}));
  EXPECT_EQ(depth_at_wait(p02, Call::single), 0u);
  EXPECT_EQ(depth_at_wait(p02, Call::any), 1u);
  const Config p03 = make_config(2, patches({Patch::p02, Patch::p03}));
  EXPECT_EQ(depth_at_wait(p03, Call::any), 0u);
  const Config p06 = make_config(2, patches({Patch::p04, Patch::p05, Patch::p06}));
  EXPECT_EQ(depth_at_wait(p06, Call::many), 0u);
  EXPECT_EQ(depth_at_wait(p06, Call::all), 1u);
  EXPECT_EQ(depth_at_wait(p06, Call::on_each), 1u);
  Config p07 = p06;
  p07.patches |= patches({Patch::p07});
  EXPECT_EQ(depth_at_wait(p07, Call::all), 0u);
  Config p08 = p06;
  p08.patches |= patches({Patch::p08});
  EXPECT_EQ(depth_at_wait(p08, Call::on_each), 0u);
  // P04 alone changes nothing.
  EXPECT_EQ(depth_at_wait(make_config(2, patches({Patch::p04})), Call::many), 1u);
}

TEST(Wait, PostedP06WaitsPreemptiblyOnlyWithAMask) {
  for (const char* series : {"posted", "merged"}) {
    const unsigned without_mask = std::string(series) == "posted" ? 1 : 0;
    Config config = make_config(2, series);
    config.preempt_full = false;
    EXPECT_EQ(depth_at_wait(config, Call::all), without_mask) << series;
    config = make_config(2, series);
    set_param(&config, Param::ipi_mask_inlined, 0);
    set_param(&config, Param::maskless_init_task, 1);
    EXPECT_EQ(depth_at_wait(config, Call::all), without_mask) << series;
    set_param(&config, Param::maskless_init_task, 0);
    EXPECT_EQ(depth_at_wait(config, Call::all), 0u) << series;
  }
}

TEST(Wait, P06WithoutP04WaitsPreemptiblyOnTheMaskOfTheCpu) {
  Config config = make_config(2, "posted");
  set_bug(&config, Bug::h10);
  EXPECT_EQ(depth_at_wait(config, Call::all), 0u);
}

}  // namespace
}  // namespace sd::smp
