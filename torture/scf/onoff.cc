#include "torture/scf/onoff.h"

#include <cerrno>

#include "torture/scf/choose.h"
#include "torture/scf/events.h"
#include "torture/scf/invoker.h"
#include "torture/scf/threads.h"

namespace sd::scf {

namespace {

using kernel::jiffies;

// The final pass tries so often to bring a CPU up whose failures are injected.
constexpr unsigned kOnlineTries = 100;

bool is_injected(int ret) {
  return (&scf_state)->params->forgive_injected &&
         (ret == -EAGAIN || ret == -ENOSPC || ret == -ENOMEM);
}

int hotplug(unsigned cpu, bool up) {
  smp::trace(tp::onoff, nullptr, cpu, up);
  const int ret = scf_hotplug(cpu, up, up ? "torture_online" : "torture_offline");
  if (up && !ret) wake_parked_invokers(cpu);
  return ret;
}

// torture_offline() and torture_online() in one: false if there is nothing to do for this CPU.
bool torture_onoff_one(unsigned cpu, bool up) {
  ScfState* st = &scf_state;
  OnoffStats* stats = &st->onoff;
  if (is_online(cpu) == up || (!up && kernel::num_online_cpus() <= 1)) return false;
  const char* verb = up ? "online" : "offline";
  if (st->params->verbose > 1) {
    sd_printk("scftorture-torture:torture_onoff task: %s %u\n", up ? "onlining" : "offlining", cpu);
  }
  ++stats->attempts[up];
  const uint64_t start = jiffies();
  const int ret = hotplug(cpu, up);
  if (ret) {
    const bool forgiven = is_injected(ret);
    if (st->params->verbose) {
      sd_printk("scftorture-torture:torture_onoff task: %s %u failed%s: errno %d\n", verb, cpu,
                forgiven ? " (forgiven: injected)" : "", ret);
    }
    if (forgiven) {
      --stats->attempts[up];
      ++stats->forgiven;
    }
    return true;
  }
  if (st->params->verbose > 1) {
    sd_printk("scftorture-torture:torture_onoff task: %s %u\n", up ? "onlined" : "offlined", cpu);
  }
  ++stats->successes[up];
  const auto took = static_cast<int64_t>(jiffies() - start);
  if (stats->min[up] < 0 || took < stats->min[up]) stats->min[up] = took;
  if (took > stats->max[up]) stats->max[up] = took;
  stats->sum[up] += took;
  return true;
}

// Brings every CPU up. An operation that fails otherwise than by injection is an attempt without
// success.
void torture_online_all(const char* phase, unsigned tries) {
  ScfState* st = &scf_state;
  for_each_possible_cpu (cpu) {
    for (unsigned i = 0; i < tries && !is_online(cpu); ++i) {
      const int ret = hotplug(cpu, true);
      if (!ret) break;
      if (st->params->verbose) {
        sd_printk("torture_online_all: scftorture-torture:%s: online %u: errno %d\n", phase, cpu,
                  ret);
      }
      if (!is_injected(ret)) {
        ++st->onoff.attempts[1];
        break;
      }
      ++st->onoff.forgiven;
    }
  }
}

void torture_onoff_loop(unsigned maxcpu) {
  ScfState* st = &scf_state;
  const ScfParams* params = st->params;
  if (params->onoff_holdoff > 0) {
    scf_verbose("scftorture-torture: torture_onoff begin holdoff\n");
    kernel::schedule_timeout_interruptible(static_cast<uint64_t>(params->onoff_holdoff) *
                                           kernel::kHz);
    scf_verbose("scftorture-torture: torture_onoff end holdoff\n");
  }
  for (int operations = 0; !torture_must_stop();) {
    if (params->disable_onoff_at_boot && !data_race_read(&st->boot_ended)) {
      kernel::schedule_timeout_interruptible(kernel::kHz / 10);
      continue;
    }
    if (params->onoff_ops > 0 && operations >= params->onoff_ops) return;
    const uint32_t seen = progress_now();
    const unsigned cpu = choose(maxcpu + 1, choice::onoff_cpu);
    if (!torture_onoff_one(cpu, false)) torture_onoff_one(cpu, true);
    ++operations;
    if (torture_must_stop()) return;
    kernel::schedule_timeout_interruptible(static_cast<uint64_t>(params->onoff_interval));
    progress_wait(seen);
  }
}

int torture_onoff(void*) {
  scf_verbose("scftorture-torture: torture_onoff task started\n");
  torture_online_all("Initial", 1);
  // The kernel looks before the initial pass, and never touches a CPU beyond.
  unsigned maxcpu = 0;
  for_each_possible_cpu (cpu) {
    if (is_online(cpu)) maxcpu = cpu;
  }
  if (maxcpu == 0) {
    scf_verbose("scftorture-torture: Only one CPU, so CPU-hotplug testing is disabled\n");
  } else {
    torture_onoff_loop(maxcpu);
  }
  gate_wait(&(&scf_state)->stop);
  torture_online_all("Final", kOnlineTries);
  torture_kthread_stopping("torture_onoff");
  return 0;
}

}  // namespace

void start_onoff() {
  ScfState* st = &scf_state;
  st->onoff.min[0] = st->onoff.min[1] = -1;
  if (st->params->onoff_interval <= 0) return;
  st->onoff_task = torture_create_kthread(torture_onoff, nullptr, "torture_onoff");
  kernel::wake_up_process(st->onoff_task);
}

void collect_onoff(ScfStats* stats) {
  const OnoffStats& onoff = (&scf_state)->onoff;
  stats->offline_attempts = onoff.attempts[0];
  stats->online_attempts = onoff.attempts[1];
  stats->offline_successes = onoff.successes[0];
  stats->online_successes = onoff.successes[1];
  stats->min_offline = onoff.min[0];
  stats->min_online = onoff.min[1];
  stats->max_offline = onoff.max[0];
  stats->max_online = onoff.max[1];
  stats->sum_offline = onoff.sum[0];
  stats->sum_online = onoff.sum[1];
  stats->hotplug_forgiven = onoff.forgiven;
}

}  // namespace sd::scf
