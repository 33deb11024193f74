#include "torture/scf/stats_line.h"

#include <gtest/gtest.h>

#include <string>

namespace sd::scf {
namespace {

ScfStats numbered() {
  ScfStats s;
  for (unsigned i = 0; i < kPrims; ++i) {
    s.n[i] = 100 + i;
    s.n_ofl[i] = 200 + i;
  }
  s.invoked = 9'876'543'210;
  s.n_async_busy = 7;
  s.n_alloc_errs = 3;
  s.online_attempts = 11;
  s.online_successes = 10;
  s.offline_attempts = 13;
  s.offline_successes = 12;
  s.min_online = 1;
  s.max_online = 20;
  s.min_offline = 2;
  s.max_offline = 30;
  s.sum_online = 55;
  s.sum_offline = 66;
  s.hotplug_forgiven = 5;
  return s;
}

template <typename... Args>
std::string line_of(int (*format)(char*, size_t, Args...), Args... args) {
  char line[kLineSize];
  const int length = format(line, sizeof(line), args...);
  EXPECT_EQ(static_cast<size_t>(length), std::string(line).size());
  return line;
}

std::string stats_line(const ScfStats& stats, bool is_final) {
  return line_of<const ScfStats&, bool>(format_stats, stats, is_final);
}

TEST(StatsLineTest, IsTheKernels) {
  EXPECT_EQ(stats_line(numbered(), false),
            "scftorture:  scf_invoked_count ver: 9876543210 resched: 100 single: 101/103 "
            "single_ofl: 201/203 "
            "single_rpc: 102 single_rpc_ofl: 202 many: 104/105 all: 106/107 onoff: 10/11:12/13 "
            "1,20:2,30 55:66 "
            "(HZ=1000) ste: 0 stnmie: 0 stnmoe: 0 staf: 3\n");
}

TEST(StatsLineTest, OfNothingIsTheKernels) {
  EXPECT_EQ(
      stats_line(ScfStats{}, true),
      "scftorture:  scf_invoked_count VER: 0 resched: 0 single: 0/0 single_ofl: 0/0 single_rpc: 0 "
      "single_rpc_ofl: 0 many: 0/0 all: 0/0 onoff: 0/0:0/0 -1,0:-1,0 0:0 (HZ=1000) ste: 0 stnmie: "
      "0 "
      "stnmoe: 0 staf: 0\n");
}

TEST(StatsLineTest, ErrorsAreMarkedButInjectedAllocationFailuresAreNot) {
  ScfStats stats;
  stats.n_alloc_errs = 1;
  EXPECT_EQ(stats_line(stats, false).find("!!!"), std::string::npos);
  stats.n_mb_out_errs = 1;
  EXPECT_EQ(stats_line(stats, false).substr(0, 40), "scftorture:  !!! scf_invoked_count ver: ");
}

TEST(StatsLineTest, OnoffPart) {
  EXPECT_EQ(line_of<const ScfStats&>(format_onoff, numbered()),
            "onoff: 10/11:12/13 1,20:2,30 55:66 (HZ=1000) ");
}

TEST(StatsLineTest, ExtraPrimitives) {
  EXPECT_EQ(
      line_of<const ScfStats&>(format_extra_stats, numbered()),
      "scftorture:  any: 108/109 any_ofl: 208/209 async: 110 async_ofl: 210 busy: 7 cond: 111/112 "
      "on_each: 113/114 on_cpu: 115 on_cpu_ofl: 215 irq_work: 116 irq_work_ofl: 216 kick_all: 117 "
      "relay: 118 relay_ofl: 218 forgiven: 5\n");
}

TEST(ParameterLineTest, IsTheKernelsAndShowsWhatWasGiven) {
  ScfParams params;
  params.use_cpus_read_lock = true;
  params.shutdown_secs = 600;
  params.weights[static_cast<unsigned>(Prim::many_wait)] = 4;
  const auto line =
      line_of<const char*, const ScfParams&>(format_parameters, "Start of test", params);
  EXPECT_EQ(
      line,
      "scftorture: --- Start of test:  verbose=0 holdoff=0 longwait=0 nthreads=-1 onoff_holdoff=0 "
      "onoff_interval=1000 shutdown_secs=600 stat_interval=15 stutter=0 use_cpus_read_lock=1, "
      "weight_resched=-1, weight_single=-1, weight_single_rpc=-1, weight_single_wait=-1, "
      "weight_many=-1, "
      "weight_many_wait=4, weight_all=-1, weight_all_wait=-1\n");
}

TEST(ParameterLineTest, OfTheFramework) {
  ScfParams params;
  params.random_shuffle = 2;
  EXPECT_EQ(line_of<const ScfParams&>(format_module_parameters, params),
            "torture module --- scftorture:  disable_onoff_at_boot=0 ftrace_dump_at_shutdown=0 "
            "verbose_sleep_frequency=0 verbose_sleep_duration=1 random_shuffle=2\n");
}

TEST(SelectorLineTest, IsTheKernels) {
  std::array<int, kPrims> weights{};
  weights[static_cast<unsigned>(Prim::resched)] = 1;
  weights[static_cast<unsigned>(Prim::single_rpc)] = 2;
  Selector selector;
  ASSERT_EQ(build_selector(weights, 4, &selector), SelectorError::none);
  const auto line = [&](unsigned i) {
    return line_of<const Selector&, unsigned>(format_selector_entry, selector, i);
  };
  EXPECT_EQ(line(0), "scf_sel_dump:  33.333 resched_cpu(nowait)\n");
  EXPECT_EQ(line(1), "scf_sel_dump:  66.666 smp_call_function_single_rpc(wait)\n");
}

// S-I56: every combination of errors and failed hotplug operations.
TEST(VerdictTest, SuccessExactlyWithoutErrorsAndFailuresAndFailureWeighsMore) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    ScfStats stats;
    stats.online_attempts = stats.online_successes = 3;
    stats.offline_attempts = stats.offline_successes = 4;
    stats.n_errs = bits & 1;
    stats.n_mb_in_errs = bits >> 1 & 1;
    stats.n_mb_out_errs = bits >> 2 & 1;
    stats.online_attempts += bits >> 3 & 1;
    stats.offline_attempts += bits >> 4 & 1;
    stats.n_alloc_errs = bits >> 5 & 1;  // of no consequence
    const Verdict expected = bits & 7    ? Verdict::failure
                             : bits & 24 ? Verdict::lock_hotplug
                                         : Verdict::success;
    EXPECT_EQ(verdict(stats), expected) << bits;
  }
}

TEST(VerdictTest, Names) {
  EXPECT_STREQ(verdict_name(Verdict::success), "SUCCESS");
  EXPECT_STREQ(verdict_name(Verdict::failure), "FAILURE");
  EXPECT_STREQ(verdict_name(Verdict::lock_hotplug), "LOCK_HOTPLUG");
}

TEST(StatsSumTest, AddsCountersAndKeepsExtremes) {
  ScfStats sum;
  sum += numbered();
  EXPECT_EQ(sum.min_online, 1);  // -1: nothing was measured yet
  ScfStats other = numbered();
  other.min_online = -1;
  other.max_online = 0;
  other.min_offline = 1;
  other.max_offline = 99;
  sum += other;
  EXPECT_EQ(sum.n[0], 200);
  EXPECT_EQ(sum.n_ofl[kPrims - 1], 2 * (200 + kPrims - 1));
  EXPECT_EQ(sum.invoked, 2 * 9'876'543'210);
  EXPECT_EQ(sum.min_online, 1);
  EXPECT_EQ(sum.max_online, 20);
  EXPECT_EQ(sum.min_offline, 1);
  EXPECT_EQ(sum.max_offline, 99);
  EXPECT_EQ(sum.sum_offline, 132);
  EXPECT_EQ(sum.hotplug_forgiven, 10);
}

}  // namespace
}  // namespace sd::scf
