// Tracepoints of the cross-call stack: one line where they stand, no logic, the same with or
// without listeners. `cpu`, `task`, step and time are in every event.
#pragma once

#include "core/smp/csd.h"

namespace sd::smp {

// What one call asked for; lives on the caller's stack while its events are emitted.
enum class call_kind : uint8_t { single, single_async, any, many, smp_call_on_cpu };
struct call_args {
  call_kind kind = call_kind::single;
  bool wait = false;
  unsigned scf_flags = 0;         // many: SCF_RUN_LOCAL
  int cpu = -1;                   // single, async, on_cpu
  const cpumask* mask = nullptr;  // many, any
  smp_call_func_t func = nullptr;
  void* info = nullptr;
  smp_cond_func_t cond = nullptr;
  const call_single_data_t* csd = nullptr;  // async: the owner's
};

namespace tp {

using id = uint8_t;
// A call, from entry to return of the outermost function of the API; calls of one
// context nest (LIFO).
inline constexpr id call_begin = 96;  // obj = call_args, a = kind, b = wait
// The pd section that selects and queues starts; a = this cpu.
inline constexpr id call_pinned = 97;
inline constexpr id call_unpinned = 98;       // that section is about to end (before put_cpu)
inline constexpr id call_end = 99;            // obj = call_args, a = return value (as uint32)
inline constexpr id any_selected = 100;       // a = cpu chosen (nr_cpu_ids: none)
inline constexpr id cond_result = 101;        // a = cpu asked for, b = result
inline constexpr id run_local_sampled = 102;  // a = whether this cpu was in the mask (RUN_LOCAL)
inline constexpr id snapshot = 103;  // obj = the mask that was computed (mask & online - self)
// csd life cycle
// obj = csd: about to wait for LOCK to be clear, to take it.
inline constexpr id csd_lock_begin = 104;
inline constexpr id csd_locked = 105;  // obj = csd: LOCK was just set by this call; a = target cpu
// obj = csd or node, a = target cpu, b = type; before llist_add.
inline constexpr id csd_queue_cpu = 106;
inline constexpr id csd_queued = 107;  // obj = node, a = target cpu, b = list was empty
// obj = csd, a = LOCK was set; just before the releasing store.
inline constexpr id csd_unlock = 108;
inline constexpr id csd_wait_begin = 109;  // obj = csd: waits for its completion
inline constexpr id csd_wait_end = 110;    // obj = csd
// flush of the call queue
inline constexpr id flush_begin = 111;  // a = warn_cpu_offline
inline constexpr id flush_taken = 112;  // obj = first entry, oldest first, or null
// obj = node, b = type: taken off the batch, before it is run.
inline constexpr id csd_unlink = 113;
inline constexpr id func_entry = 114;  // obj = csd (null: local execution), a = func, b = info
inline constexpr id func_exit = 115;   // obj = csd, a = func, b = info
inline constexpr id flush_end = 116;
// notification
// a = cpu: polling, NEED_RESCHED set instead of an IPI.
inline constexpr id wake_idle_without_ipi = 117;
inline constexpr id csd_resend_ipi = 118;  // a = cpu
// hotplug hooks
inline constexpr id smpcfd_prepare = 119;      // a = cpu, b = 0 or errno
inline constexpr id smpcfd_dead = 120;         // a = cpu
inline constexpr id smpcfd_dying_begin = 121;  // a = cpu
inline constexpr id smpcfd_dying_end = 122;    // a = cpu
// irq_work and remote wake-ups
inline constexpr id irq_work_queue = 123;  // obj = work, a = cpu, b = claimed
inline constexpr id irq_work_entry = 124;  // obj = work
inline constexpr id irq_work_exit = 125;   // obj = work
inline constexpr id ttwu_queue = 126;      // a = task id, b = cpu
inline constexpr id ttwu_activate = 127;   // a = task id
// csd-lock debugging
inline constexpr id csd_stuck = 128;    // obj = csd, a = bug id, b = waited ns
inline constexpr id csd_unstuck = 129;  // obj = csd, a = bug id
// kick_all_cpus_sync()
inline constexpr id kick_begin = 130;  // a = the function that it calls everywhere
inline constexpr id kick_end = 131;
// scf torture (torture/scf); see torture/scf/events.h: 160..191

void register_events();

}  // namespace tp

static inline void trace(tp::id id, const volatile void* obj = nullptr, uint64_t a = 0,
                         uint64_t b = 0, const char* fn = __builtin_FUNCTION()) {
  sd_trace(id, obj, a, b, fn);
}

}  // namespace sd::smp
