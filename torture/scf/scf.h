// scf torture: the scenario in the manner of kernel/scftorture.c and kernel/torture.c that runs on
// the machine. The driver fills ScfParams, runs scf_main as the machine's first task, and reads
// ScfStats.
#pragma once

#include <array>
#include <cstdint>

namespace sd::scf {

// Primitives, in the order of the selector table; the first eight are scftorture's own.
enum class Prim : uint8_t {
  resched,
  single,
  single_rpc,
  single_wait,
  many,
  many_wait,
  all,
  all_wait,
  any,
  any_wait,
  single_async,
  cond,
  cond_wait,
  on_each,
  on_each_wait,
  on_cpu,
  irq_work,
  kick_all,
  relay,
  count_
};
inline constexpr unsigned kPrims = static_cast<unsigned>(Prim::count_);
const char* prim_weight_name(Prim prim);  // "weight_single_rpc"

// Every parameter of scftorture and of the torture framework, by its kernel name. Seconds are
// virtual seconds, jiffies virtual jiffies (HZ = 1000). Where a default differs from the kernel's,
// the comment says why.
inline constexpr int kMaxSwaps = 16;

struct ScfParams {
  // scftorture
  int holdoff = 0;            // s
  int longwait = 0;           // s
  int nthreads = -1;          // -1: one per online CPU
  int onoff_holdoff = 0;      // s
  int onoff_interval = 1000;  // jiffies; the kernel's default is 0, but its test scripts use 1000
  int shutdown_secs = 0;      // s; each execution ends itself after so long
  int stat_interval = 15;     // s of real time between the driver's statistics lines
  int stutter = 0;  // jiffies; the kernel's default is 5, but an execution is shorter than one
  bool use_cpus_read_lock = false;
  int verbose = 0;
  bool shutdown = false;
  std::array<int, kPrims> weights;  // -1: default
  // torture.c
  bool disable_onoff_at_boot = false;
  bool ftrace_dump_at_shutdown = false;  // for the parameter line: the driver takes only false
  int verbose_sleep_frequency = 0;
  int verbose_sleep_duration = 1;
  int random_shuffle = 0;
  // ours
  // Per thread and execution; 0: until shutdown_secs. Measured on H09, H10 and H11 with 7
  // seeds each, 3 and 4 find alike per CPU-second; more of the shorter ones means more
  // draws of the strategy.
  int ops = 3;
  int softirqs = 0;  // one handler in so many raises a softirq; 0: none
  int swaps = 0;     // tasks that stop two CPUs at a time, each as often as a thread has operations
  int onoff_ops = 0;  // hotplug operations per execution, then the onoff thread rests; 0: no limit
  // Whether hotplug operations may fail by injection (hotplug_fail or alloc_fail of the machine):
  // such failures, -EAGAIN, -ENOSPC and -ENOMEM, are then forgiven.
  bool forgive_injected = true;

  ScfParams() { weights.fill(-1); }
};

// Sums over one execution; the driver adds executions up.
struct ScfStats {
  std::array<int64_t, kPrims> n{};      // attempts by primitive
  std::array<int64_t, kPrims> n_ofl{};  // of these, the target was offline (-ENXIO)
  int64_t n_async_busy = 0;             // single_async that returned -EBUSY
  int64_t invoked = 0;                  // scf_invoked_count: handler runs + resched invocations
  int64_t expected = 0;                 // what invoked must come to (S-I55)
  int64_t n_errs = 0, n_mb_in_errs = 0, n_mb_out_errs = 0;
  int64_t n_alloc_errs = 0;  // injected allocation failures included
  int64_t ops = 0;
  int64_t online_attempts = 0, online_successes = 0, offline_attempts = 0, offline_successes = 0;
  int64_t hotplug_forgiven = 0;  // attempts that failed by injection: not counted as attempts
  int64_t min_online = -1, max_online = 0, min_offline = -1, max_offline = 0;  // jiffies
  int64_t sum_online = 0, sum_offline = 0;
};

// A fault planted into the torture itself, for the tests of its checks.
enum class Plant : uint8_t {
  none,
  lose,        // a no-wait request is forgotten by its handler
  miscount,    // a handler run is counted twice
  run_twice,   // a handler of a multi-target call runs twice
  free_twice,  // an object is freed twice
  leak,        // an object is not freed
  late,        // a request is made after the cleanup
  stale_in,    // a caller's scfc_in does not reach the handler
  stale_out,   // a handler's scfc_out does not reach the caller
  wrong_cpu,   // a single call expects another CPU than it asks for
};

// The first task of the machine: init, threads, cleanup, quiescence, checks. arg: ScfRun*.
struct ScfRun {
  const ScfParams* params = nullptr;
  ScfStats stats;              // result; after a failure, only what is known of it
  bool init_failed = false;    // bad weights: no verdict
  bool was_shut_down = false;  // by shutdown_secs
  Plant plant = Plant::none;
};
void scf_main(void* arg);

// Once per process, before any machine boots: reserves storage, registers events.
void register_scf();

}  // namespace sd::scf
