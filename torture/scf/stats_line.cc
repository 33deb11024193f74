#include "torture/scf/stats_line.h"

#include <algorithm>
#include <cstdio>

#include "core/kernel/kthread.h"

namespace sd::scf {

namespace {

long long count(const std::array<int64_t, kPrims>& of, Prim prim) {
  return of[static_cast<unsigned>(prim)];
}

}  // namespace

Verdict verdict(const ScfStats& stats) {
  if (stats.n_errs || stats.n_mb_in_errs || stats.n_mb_out_errs) return Verdict::failure;
  if (stats.online_successes != stats.online_attempts ||
      stats.offline_successes != stats.offline_attempts) {
    return Verdict::lock_hotplug;
  }
  return Verdict::success;
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::success:
      return "SUCCESS";
    case Verdict::failure:
      return "FAILURE";
    case Verdict::lock_hotplug:
      return "LOCK_HOTPLUG";
  }
  return "?";
}

int format_onoff(char* line, size_t size, const ScfStats& s) {
  return snprintf(line, size, "onoff: %ld/%ld:%ld/%ld %d,%d:%d,%d %lu:%lu (HZ=%d) ",
                  static_cast<long>(s.online_successes), static_cast<long>(s.online_attempts),
                  static_cast<long>(s.offline_successes), static_cast<long>(s.offline_attempts),
                  static_cast<int>(s.min_online), static_cast<int>(s.max_online),
                  static_cast<int>(s.min_offline), static_cast<int>(s.max_offline),
                  static_cast<unsigned long>(s.sum_online),
                  static_cast<unsigned long>(s.sum_offline), static_cast<int>(kernel::kHz));
}

// Injected allocation failures are no reason for the "!!!" that marks errors: as in a KASAN kernel.
int format_stats(char* line, size_t size, const ScfStats& s, bool is_final) {
  char onoff[256];
  format_onoff(onoff, sizeof(onoff), s);
  const bool errors = s.n_errs || s.n_mb_in_errs || s.n_mb_out_errs;
  return snprintf(
      line, size,
      "scftorture:  %sscf_invoked_count %s: %lld resched: %lld single: %lld/%lld single_ofl: "
      "%lld/%lld single_rpc: %lld single_rpc_ofl: %lld many: %lld/%lld all: %lld/%lld %sste: %d "
      "stnmie: %d stnmoe: %d staf: %d\n",
      errors ? "!!! " : "", is_final ? "VER" : "ver", static_cast<long long>(s.invoked),
      count(s.n, Prim::resched), count(s.n, Prim::single), count(s.n, Prim::single_wait),
      count(s.n_ofl, Prim::single), count(s.n_ofl, Prim::single_wait), count(s.n, Prim::single_rpc),
      count(s.n_ofl, Prim::single_rpc), count(s.n, Prim::many), count(s.n, Prim::many_wait),
      count(s.n, Prim::all), count(s.n, Prim::all_wait), onoff, static_cast<int>(s.n_errs),
      static_cast<int>(s.n_mb_in_errs), static_cast<int>(s.n_mb_out_errs),
      static_cast<int>(s.n_alloc_errs));
}

int format_extra_stats(char* line, size_t size, const ScfStats& s) {
  return snprintf(
      line, size,
      "scftorture:  any: %lld/%lld any_ofl: %lld/%lld async: %lld async_ofl: %lld busy: "
      "%lld cond: %lld/%lld on_each: %lld/%lld on_cpu: %lld on_cpu_ofl: %lld irq_work: "
      "%lld irq_work_ofl: %lld kick_all: %lld relay: %lld relay_ofl: %lld forgiven: %lld\n",
      count(s.n, Prim::any), count(s.n, Prim::any_wait), count(s.n_ofl, Prim::any),
      count(s.n_ofl, Prim::any_wait), count(s.n, Prim::single_async),
      count(s.n_ofl, Prim::single_async), static_cast<long long>(s.n_async_busy),
      count(s.n, Prim::cond), count(s.n, Prim::cond_wait), count(s.n, Prim::on_each),
      count(s.n, Prim::on_each_wait), count(s.n, Prim::on_cpu), count(s.n_ofl, Prim::on_cpu),
      count(s.n, Prim::irq_work), count(s.n_ofl, Prim::irq_work), count(s.n, Prim::kick_all),
      count(s.n, Prim::relay), count(s.n_ofl, Prim::relay),
      static_cast<long long>(s.hotplug_forgiven));
}

int format_parameters(char* line, size_t size, const char* tag, const ScfParams& p) {
  const auto weight = [&p](Prim prim) { return p.weights[static_cast<unsigned>(prim)]; };
  return snprintf(
      line, size,
      "scftorture: --- %s:  verbose=%d holdoff=%d longwait=%d nthreads=%d onoff_holdoff=%d "
      "onoff_interval=%d shutdown_secs=%d stat_interval=%d stutter=%d use_cpus_read_lock=%d, "
      "weight_resched=%d, weight_single=%d, weight_single_rpc=%d, weight_single_wait=%d, "
      "weight_many=%d, weight_many_wait=%d, weight_all=%d, weight_all_wait=%d\n",
      tag, p.verbose, p.holdoff, p.longwait, p.nthreads, p.onoff_holdoff, p.onoff_interval,
      p.shutdown_secs, p.stat_interval, p.stutter, p.use_cpus_read_lock, weight(Prim::resched),
      weight(Prim::single), weight(Prim::single_rpc), weight(Prim::single_wait), weight(Prim::many),
      weight(Prim::many_wait), weight(Prim::all), weight(Prim::all_wait));
}

int format_module_parameters(char* line, size_t size, const ScfParams& p) {
  return snprintf(line, size,
                  "torture module --- scftorture:  disable_onoff_at_boot=%d "
                  "ftrace_dump_at_shutdown=%d verbose_sleep_frequency=%d verbose_sleep_duration=%d "
                  "random_shuffle=%d\n",
                  p.disable_onoff_at_boot, p.ftrace_dump_at_shutdown, p.verbose_sleep_frequency,
                  p.verbose_sleep_duration, p.random_shuffle);
}

int format_selector_entry(char* line, size_t size, const Selector& selector, unsigned i) {
  const uint64_t before = i ? selector.entry[i - 1].cumulative : 0;
  const uint64_t share = 100'000 * (selector.entry[i].cumulative - before) / selector.total;
  const Prim prim = selector.entry[i].prim;
  return snprintf(line, size, "scf_sel_dump: %3lu.%03lu %s(%s)\n",
                  static_cast<unsigned long>(share / 1000),
                  static_cast<unsigned long>(share % 1000), prim_name(prim),
                  prim_waits(prim) ? "wait" : "nowait");
}

ScfStats& operator+=(ScfStats& sum, const ScfStats& one) {
  for (unsigned i = 0; i < kPrims; ++i) {
    sum.n[i] += one.n[i];
    sum.n_ofl[i] += one.n_ofl[i];
  }
  sum.n_async_busy += one.n_async_busy;
  sum.invoked += one.invoked;
  sum.expected += one.expected;
  sum.n_errs += one.n_errs;
  sum.n_mb_in_errs += one.n_mb_in_errs;
  sum.n_mb_out_errs += one.n_mb_out_errs;
  sum.n_alloc_errs += one.n_alloc_errs;
  sum.ops += one.ops;
  sum.online_attempts += one.online_attempts;
  sum.online_successes += one.online_successes;
  sum.offline_attempts += one.offline_attempts;
  sum.offline_successes += one.offline_successes;
  sum.hotplug_forgiven += one.hotplug_forgiven;
  sum.sum_online += one.sum_online;
  sum.sum_offline += one.sum_offline;
  const auto smaller = [](int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); };
  sum.min_online = smaller(sum.min_online, one.min_online);
  sum.min_offline = smaller(sum.min_offline, one.min_offline);
  sum.max_online = std::max(sum.max_online, one.max_online);
  sum.max_offline = std::max(sum.max_offline, one.max_offline);
  return sum;
}

}  // namespace sd::scf
