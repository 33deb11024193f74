#include "torture/scf/threads.h"

#include "core/kernel/bug.h"
#include "torture/scf/choose.h"

namespace sd::scf {

namespace {

using kernel::jiffies;
using kernel::schedule_timeout_interruptible;

// Each cycle pauses first, then runs. A stutter of one jiffy never pauses.
int torture_stutter(void*) {
  ScfState* st = &scf_state;
  const auto stutter = static_cast<uint64_t>(st->params->stutter);
  scf_verbose("scftorture-torture: torture_stutter task started\n");
  do {
    const uint32_t seen = progress_now();
    if (stutter > 1) {
      data_race_write(&st->stutter_till, jiffies() + stutter);
      schedule_timeout_interruptible(stutter - 1);
    }
    if (torture_must_stop()) break;
    schedule_timeout_interruptible(stutter);
    progress_wait(seen);
  } while (!torture_must_stop());
  torture_kthread_stopping("torture_stutter");
  return 0;
}

// The cleanup, which is this thread's hook in the kernel, is main's business here.
int torture_shutdown(void*) {
  ScfState* st = &scf_state;
  const uint64_t end = static_cast<uint64_t>(st->params->shutdown_secs) * kernel::kHz;
  scf_verbose("scftorture-torture: torture_shutdown task started\n");
  for (;;) {
    if (torture_must_stop()) {
      torture_kthread_stopping("torture_shutdown");
      return 0;
    }
    const uint64_t now = jiffies();
    if (now >= end) break;
    scf_verbose("scftorture-torture:torture_shutdown task: %llu ms remaining\n",
                static_cast<unsigned long long>((end - now) * 1000 / kernel::kHz));
    schedule_timeout_interruptible(end - now);
  }
  scf_verbose("scftorture-torture: torture_shutdown task shutting down system\n");
  st->run->was_shut_down = true;
  gate_open(&st->active);
  return 0;
}

// Binds every invoker to a CPU drawn anew. (torture.c moves the tasks of its tests off one CPU in
// turn.)
int torture_shuffle(void*) {
  ScfState* st = &scf_state;
  scf_verbose("scftorture-torture: torture_shuffle task started\n");
  do {
    const uint32_t seen = progress_now();
    for (unsigned i = 0; i < st->nthreads && !torture_must_stop(); ++i) {
      const unsigned cpu = choose(nr_cpu_ids(), choice::op_value);
      if (is_online(cpu)) kernel::set_cpus_allowed_cpu(st->invokers[i].task, cpu);
    }
    schedule_timeout_interruptible(static_cast<uint64_t>(st->params->random_shuffle));
    progress_wait(seen);
  } while (!torture_must_stop());
  torture_kthread_stopping("torture_shuffle");
  return 0;
}

task_struct* run_kthread(int (*fn)(void*), const char* name) {
  task_struct* task = torture_create_kthread(fn, nullptr, name);
  kernel::wake_up_process(task);
  return task;
}

}  // namespace

task_struct* torture_create_kthread(int (*fn)(void*), void* data, const char* name) {
  scf_verbose("scftorture-torture: Creating %s task\n", name);
  // In the kernel the test would fail to start, and be started again.
  constexpr int kTries = 100;
  task_struct* task = kernel::kthread_create(fn, data, name);
  for (int i = 1; !task && i < kTries; ++i) task = kernel::kthread_create(fn, data, name);
  BUG_ON(!task);
  return task;
}

void torture_kthread_stopping(const char* name) {
  scf_verbose("scftorture-torture: %s is stopping\n", name);
}

void torture_stop_kthread(const char* name, task_struct** task) {
  if (!*task) return;
  scf_verbose("scftorture-torture: Stopping %s task\n", name);
  kernel::kthread_stop(*task);
  *task = nullptr;
}

void start_stutter() {
  ScfState* st = &scf_state;
  if (st->params->stutter > 0) st->stutter_task = run_kthread(torture_stutter, "torture_stutter");
}

void stutter_wait() {
  const uint64_t till = data_race_read(&(&scf_state)->stutter_till);
  for (;;) {
    const uint64_t now = jiffies();
    if (now >= till || torture_must_stop()) return;
    schedule_timeout_interruptible(till - now);
  }
}

void start_shutdown() {
  ScfState* st = &scf_state;
  if (st->params->shutdown_secs > 0)
    st->shutdown_task = run_kthread(torture_shutdown, "torture_shutdown");
}

void start_shuffle() {
  ScfState* st = &scf_state;
  if (st->params->random_shuffle > 0)
    st->shuffle_task = run_kthread(torture_shuffle, "torture_shuffle");
}

}  // namespace sd::scf
