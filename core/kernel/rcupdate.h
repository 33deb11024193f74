// RCU: read sections (also any region with preemption or interrupts off) and grace periods.
#pragma once

#include "core/kernel/compiler.h"

namespace sd::kernel {

static inline void rcu_read_lock(const char* fn = __builtin_FUNCTION()) {
  sd_rcu_read_lock(fn);
}
static inline void rcu_read_unlock(const char* fn = __builtin_FUNCTION()) {
  sd_rcu_read_unlock(fn);
}
static inline void synchronize_rcu(const char* fn = __builtin_FUNCTION()) {
  sd_synchronize_rcu(fn);
}

}  // namespace sd::kernel

#define rcu_dereference(p) READ_ONCE(p)
#define rcu_assign_pointer(p, value) smp_store_release(&(p), (value))
