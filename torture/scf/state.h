// The state of the torture in one execution. Lives in machine memory, zeroed at boot; everything
// that several tasks use is machine-atomic (no scheduling point inside) and ghost, unless it says
// otherwise.
#pragma once

#include "core/kernel/kthread.h"
#include "core/kernel/percpu.h"
#include "core/kernel/switches.h"
#include "core/smp/smp.h"
#include "torture/scf/check.h"
#include "torture/scf/gate.h"
#include "torture/scf/selector.h"

namespace sd::scf {

using bugs::Bug;
using kernel::bug;
using kernel::data_race_read;
using kernel::data_race_write;
using kernel::nr_cpu_ids;
using kernel::patch;
using kernel::smp_processor_id;
using kernel::task_struct;
using series::Patch;

// Of one invoker, written by it alone.
struct scf_statistics {
  int64_t n[kPrims];
  int64_t n_ofl[kPrims];
  int64_t n_async_busy;
  int64_t n_alloc_errs;
  int64_t ops;
  int64_t expected;  // handler runs and reschedules that its operations come to
  int64_t slack;     // and so many more are possible: calls without a record, during hotplug
};

struct Relay;

struct Invoker {
  task_struct* task;
  unsigned index;
  unsigned cpu;          // it is bound to this one, while that is online
  bool pinned;           // it was bound, at
  uint32_t pin_seq;      // this hotplug_seq()
  bool read_locked;      // holds cpus_read_lock
  bool ended;            // it has nothing left to do but to exit
  kernel::cpumask mask;  // of the current operation
  bool mask_is_active;   // it is called for cpu_active_mask instead, which others change meanwhile
  scf_statistics stats;
  scf_check* kept;   // no-wait calls to several CPUs
  scf_check* async;  // record of single_async calls: asked is how often they were issued
  Relay* relays;     // relayed requests, until the end
  bool irq_work_used;
  smp::call_single_data_t async_csd;
  smp::irq_work work;
};

// Statistics of the onoff thread, written by it alone.
struct OnoffStats {
  int64_t attempts[2], successes[2], min[2], max[2], sum[2];  // [0] offline, [1] online
  int64_t forgiven;
};

// Threads that do something now and then wait, between one time and the next, also for an
// operation to end: they must not go on for ever when nothing else can run any more, or a hang
// would never show.
struct Progress {
  uint32_t count;
  struct sd_waitq waiting;
};

struct ScfState {
  ScfRun* run;
  const ScfParams* params;
  Selector selector;
  Invoker* invokers;
  unsigned nthreads;
  OnoffStats onoff;
  task_struct* main_task;
  task_struct* onoff_task;
  task_struct* stutter_task;
  task_struct* shutdown_task;
  task_struct* shuffle_task;
  task_struct* swappers[kMaxSwaps];
  unsigned nswappers;

  Gate start;             // invokers that have not arrived yet
  Gate active;            // invokers and swappers that still have something to do, and can
  Gate stop;              // torture_must_stop() once it is open: fullstop of torture.c
  Progress progress;      // of the invokers
  bool boot_ended;        // init is through
  bool cleaned;           // the cleanup is through: no handler may run any more
  uint64_t stutter_till;  // jiffies; invokers pause until then
  unsigned verbose_lines;

  uint32_t nonces;  // calls so far
  int live;         // objects
  // What the cleanup waits for: no-wait requests whose handler has yet to run.
  int outstanding;       // with an object
  int outstanding_null;  // without one
  bool inexact;          // more of them may come than is known
  bool quiescing;        // wake main_task when both are zero
};

DECLARE_KERNEL_GLOBAL(ScfState, scf_state);
// Handler runs and reschedules, per CPU; written on that CPU only, without a scheduling point
// inside.
DECLARE_PER_CPU(int64_t, scf_invoked_count);

static inline bool torture_must_stop() {
  return gate_is_open(&(&scf_state)->stop);
}
// Whether this fault is planted and has not happened yet in this execution; now it has.
bool take_plant(Plant plant);

// A line of the torture, if it is to be verbose; after every so many it sleeps
// (verbose_sleep_frequency). Task context.
#define scf_verbose(...)                            \
  do {                                              \
    if ((&::sd::scf::scf_state)->params->verbose) { \
      sd_printk(__VA_ARGS__);                       \
      ::sd::scf::verbose_torout_sleep();            \
    }                                               \
  } while (0)
void verbose_torout_sleep();

void progress_made();
uint32_t progress_now();
// Waits until progress is not `seen` any more, or the torture stops.
void progress_wait(uint32_t seen);

// The number of no-wait requests that are on their way changes. A handler that ends one publishes
// what it did.
void outstanding_add(int* counter, int n);
void outstanding_done(int* counter);

}  // namespace sd::scf
