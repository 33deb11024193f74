#include "core/smp/csd_debug.h"

#include <bit>
#include <vector>

#include "core/kernel/kthread.h"
#include "core/smp/csd_lock.h"
#include "core/smp/queue.h"
#include "core/smp/smp.h"
#include "core/smp/trace.h"

namespace sd::smp {

DEFINE_PER_CPU(call_single_data_t*, cur_csd);
DEFINE_PER_CPU(smp_call_func_t, cur_csd_func);
DEFINE_PER_CPU(void*, cur_csd_info);
DEFINE_PER_CPU(atomic_t, trigger_backtrace);
DEFINE_KERNEL_GLOBAL(atomic_t, csd_bug_count);
DEFINE_KERNEL_GLOBAL(atomic_t, n_csd_lock_stuck);

namespace {

constexpr uint64_t kNsPerMs = 1'000'000;

// One wait. Times are virtual, in ns.
struct csd_wait {
  uint64_t ts0;  // when it began
  uint64_t ts1;  // when it last complained
  int bug_id;    // number of its first complaint; 0: none yet
  uint64_t nmessages;
  unsigned flags;  // as last read
};

struct symbol {
  smp_call_func_t func;
  const char* name;
};

std::vector<symbol>& symbols() {
  static std::vector<symbol> table;
  return table;
}

unsigned ilog2(unsigned n) {
  return static_cast<unsigned>(std::bit_width(n)) - 1;
}

void dump_cpu_task(unsigned cpu) {
  sd_printk("Task dump for CPU %u:\n", cpu);
  sd_printk("task:%s\n", sd_task_name(sd_curr_task(cpu)));
}

void dump_stack() {
  sd_printk("CPU: %u PID: %u Comm: %s\n", raw_smp_processor_id(), sd_task_id(current()),
            sd_task_name(current()));
}

// Which CPU a csd went to; -1 where its type does not tell. Races with the next owner of the csd,
// who may be filling it for the same CPU; it is for a message only.
int csd_lock_wait_getcpu(const call_single_data_t* csd) {
  const unsigned type = csd_type(&csd->node);
  if (type != CSD_TYPE_ASYNC && type != CSD_TYPE_SYNC) return -1;
  return data_race_read(&csd->node.dst);
}

// How long after ts1 the next complaint is due; 0: never.
uint64_t complaint_interval_ns(const csd_wait& wait) {
  const auto timeout_ns = static_cast<uint64_t>(param(Param::csd_lock_timeout)) * kNsPerMs;
  const uint64_t factor = wait.nmessages == 0 ? 1 : ilog2(num_online_cpus()) / 2 + 1;
  return timeout_ns * (wait.nmessages + 1) * factor;
}

// Says what the CPU that was asked is doing instead of answering, and asks it again; cpu is -1
// where that is not known.
void complain_about_cpu(const call_single_data_t* csd, int bug_id, int cpu,
                        const call_single_data_t* cpu_cur_csd) {
  const unsigned cpux = cpu < 0 ? 0 : static_cast<unsigned>(cpu);
  if (cpu_cur_csd && csd != cpu_cur_csd) {
    const smp_call_func_t func = READ_ONCE(per_cpu(cur_csd_func, cpux));
    const void* info = READ_ONCE(per_cpu(cur_csd_info, cpux));
    sd_printk("smp: \tcsd: CSD lock (#%d) handling prior %s(%s) request.\n", bug_id,
              symbol_name(func), info ? "info" : "0x0");
  } else {
    sd_printk("smp: \tcsd: CSD lock (#%d) %s.\n", bug_id,
              !cpu_cur_csd ? "unresponsive" : "handling this request");
  }
  if (cpu < 0) return;
  if (atomic_cmpxchg_acquire(per_cpu_ptr(trigger_backtrace, cpux), 1, 0) == 1) dump_cpu_task(cpux);
  if (!cpu_cur_csd) {
    sd_printk("smp: csd: Re-sending CSD lock (#%d) IPI from CPU#%02u to CPU#%02d\n", bug_id,
              raw_smp_processor_id(), cpu);
    trace(tp::csd_resend_ipi, csd, cpux);
    arch_send_call_function_single_ipi(cpux);
  }
}

// Complains once; `now` is more than an interval after the last time.
void csd_lock_complain(call_single_data_t* csd, csd_wait* wait, uint64_t now) {
  const bool firsttime = wait->bug_id == 0;
  if (firsttime) wait->bug_id = atomic_inc_return(&csd_bug_count);
  const int cpu = csd_lock_wait_getcpu(csd);
  const bool unknown = WARN_ONCE(cpu < 0 || static_cast<unsigned>(cpu) >= nr_cpu_ids(),
                                 "%s: cpu = %d\n", "csd_lock_wait_toolong", cpu);
  // Before func and info of that CPU.
  const unsigned cpux = unknown ? 0 : static_cast<unsigned>(cpu);
  const call_single_data_t* cpu_cur_csd = smp_load_acquire(per_cpu_ptr(cur_csd, cpux));
  const auto waited_ns = static_cast<int64_t>(now - wait->ts0);
  trace(tp::csd_stuck, csd, static_cast<uint64_t>(wait->bug_id), static_cast<uint64_t>(waited_ns));
  sd_printk(
      "smp: csd: %s non-responsive CSD lock (#%d) on CPU#%u, waiting %lld ns for CPU#%02d "
      "%s(%s).\n",
      firsttime ? "Detected" : "Continued", wait->bug_id, raw_smp_processor_id(),
      static_cast<long long>(waited_ns), cpu, symbol_name(data_race_read(&csd->func)),
      data_race_read(&csd->info) ? "info" : "0x0");
  ++wait->nmessages;
  if (firsttime) atomic_inc(&n_csd_lock_stuck);
  const int64_t panic_on_ipistall = param(Param::panic_on_ipistall);
  BUG_ON(panic_on_ipistall > 0 && waited_ns > panic_on_ipistall * static_cast<int64_t>(kNsPerMs));
  complain_about_cpu(csd, wait->bug_id, unknown ? -1 : cpu, cpu_cur_csd);
  if (firsttime) dump_stack();
  wait->ts1 = now;
}

// One look at the lock; returns whether the wait is over.
bool csd_lock_wait_toolong(call_single_data_t* csd, csd_wait* wait) {
  wait->flags = READ_ONCE(csd->node.u_flags);
  if (!(wait->flags & CSD_FLAG_LOCK)) {
    if (wait->bug_id == 0) return true;
    trace(tp::csd_unstuck, csd, static_cast<uint64_t>(wait->bug_id));
    sd_printk("smp: csd: CSD lock (#%d) got unstuck on CPU#%02u, CPU#%02d released the lock.\n",
              wait->bug_id, raw_smp_processor_id(), csd_lock_wait_getcpu(csd));
    atomic_dec(&n_csd_lock_stuck);
    return true;
  }
  const uint64_t now = sched_clock();
  switch (csd_wait_look(wait->ts0, wait->ts1, now, complaint_interval_ns(*wait))) {
    case csd_look::early:
      break;
    case csd_look::clock_went_backward:
      sd_printk("smp: sched_clock on CPU %u went backward by %llu ns\n", raw_smp_processor_id(),
                static_cast<unsigned long long>(wait->ts0 - now));
      wait->ts1 = now;
      break;
    case csd_look::complain:
      csd_lock_complain(csd, wait, now);
      break;
  }
  return false;
}

// cpu_relax() of the wait: until the flags change, or until the next complaint is due.
void csd_wait_relax(call_single_data_t* csd, const csd_wait& wait) {
  const uint64_t interval = complaint_interval_ns(wait);
  sd_wait_change(&csd->node.u_flags, wait.flags, sizeof(wait.flags),
                 interval ? wait.ts1 + interval + 1 : 0, "__csd_lock_wait");
}

// v6.12: barriers around stores that, being single instructions, need no mark there.
void __csd_lock_record(call_single_data_t* csd) {
  if (!csd) {
    smp_mb();  // The function before the note that it is done.
    WRITE_ONCE(*this_cpu_ptr(cur_csd), nullptr);
    return;
  }
  WRITE_ONCE(*this_cpu_ptr(cur_csd_func), csd->func);
  WRITE_ONCE(*this_cpu_ptr(cur_csd_info), csd->info);
  smp_wmb();  // func and info before csd.
  WRITE_ONCE(*this_cpu_ptr(cur_csd), csd);
  smp_mb();  // The note before the function.
}

void __csd_lock_record_release(call_single_data_t* csd) {
  if (csd) {
    WRITE_ONCE(*this_cpu_ptr(cur_csd_func), csd->func);
    WRITE_ONCE(*this_cpu_ptr(cur_csd_info), csd->info);
  }
  smp_store_release(this_cpu_ptr(cur_csd), csd);
}

}  // namespace

// Unsigned, as in the kernel: a clock that is behind ts1 makes the difference huge.
csd_look csd_wait_look(uint64_t ts0, uint64_t ts1, uint64_t now, uint64_t interval) {
  if (interval == 0 || now - ts1 <= interval) return csd_look::early;
  return ts0 > now ? csd_look::clock_went_backward : csd_look::complain;
}

void csd_lock_record(call_single_data_t* csd) {
  if (!csdlock_debug_enabled()) return;
  if (patch(Patch::v7x)) {
    __csd_lock_record_release(csd);
  } else {
    __csd_lock_record(csd);
  }
}

void __csd_lock_wait(call_single_data_t* csd) {
  // P01: the interval counts only time in which this task polled, on this CPU.
  const bool guarded = patch(Patch::p01) && !bug(Bug::h13);
  if (guarded) preempt_disable();
  csd_wait wait{};
  wait.ts0 = wait.ts1 = sched_clock();
  while (!csd_lock_wait_toolong(csd, &wait)) csd_wait_relax(csd, wait);
  if (!bug(Bug::no_acquire_in_wait)) smp_acquire__after_ctrl_dep();
  if (guarded) preempt_enable();
}

bool csd_lock_is_stuck() {
  return atomic_read(&n_csd_lock_stuck) != 0;
}

void csd_rearm_backtrace() {
  atomic_set_release(this_cpu_ptr(trigger_backtrace), 1);
}

void csd_debug_init() {
  for_each_possible_cpu (cpu) atomic_set(per_cpu_ptr(trigger_backtrace, cpu), 1);
}

void name_symbol(smp_call_func_t func, const char* name) {
  for (symbol& entry : symbols()) {
    if (entry.func != func) continue;
    entry.name = name;
    return;
  }
  symbols().push_back({func, name});
}

const char* symbol_name(smp_call_func_t func) {
  if (!func) return "0x0";
  for (const symbol& entry : symbols()) {
    if (entry.func == func) return entry.name;
  }
  return "func";
}

}  // namespace sd::smp
