// call_single_data and the per-CPU objects of the cross-call stack (include/linux/smp_types.h,
// kernel/smp.c of Linux 6.12).
#pragma once

#include <cstdint>

#include "core/kernel/atomic.h"
#include "core/kernel/cpumask.h"
#include "core/kernel/llist.h"
#include "core/kernel/percpu.h"

namespace sd::smp {

using namespace sd::kernel;

using smp_call_func_t = void (*)(void* info);
using smp_cond_func_t = bool (*)(int cpu, void* info);

enum : unsigned {
  CSD_FLAG_LOCK = 0x01,
  IRQ_WORK_PENDING = 0x01,
  IRQ_WORK_BUSY = 0x02,
  IRQ_WORK_LAZY = 0x04,
  IRQ_WORK_HARD_IRQ = 0x08,
  IRQ_WORK_CLAIMED = IRQ_WORK_PENDING | IRQ_WORK_BUSY,
  CSD_TYPE_ASYNC = 0x00,
  CSD_TYPE_SYNC = 0x10,
  CSD_TYPE_IRQ_WORK = 0x20,
  CSD_TYPE_TTWU = 0x30,
  CSD_FLAG_TYPE_MASK = 0xF0,
};

// Common header of the four kinds of queue entry.
struct __call_single_node {
  llist_node llist;
  union {
    unsigned u_flags;
    atomic_t a_flags;
  };
  uint16_t src, dst;
};

struct alignas(32) call_single_data_t {
  __call_single_node node;
  smp_call_func_t func;
  void* info;
};

inline constexpr unsigned SCF_WAIT = 1u << 0;
inline constexpr unsigned SCF_RUN_LOCAL = 1u << 1;

// One per source CPU: csd[T] is what multi-target calls from this CPU use for target T.
struct call_function_data {
  call_single_data_t* csd;  // nr_cpu_ids() of them, on the heap
  cpumask* cpumask_work;    // cfd->cpumask; on the heap (CPUMASK_OFFSTACK)
  cpumask* cpumask_ipi;
};

DECLARE_PER_CPU(llist_head, call_single_queue);
DECLARE_PER_CPU(call_function_data, cfd_data);
DECLARE_PER_CPU(call_single_data_t, csd_data);

}  // namespace sd::smp
