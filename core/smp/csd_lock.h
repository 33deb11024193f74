// The lock bit of a csd: who may fill and queue it, and how its completion is waited for
// (kernel/smp.c, Linux 6.12: csd_lock, csd_unlock, csd_lock_wait, csd_do_func).
#pragma once

#include "core/smp/csd.h"
#include "core/smp/switches.h"
#include "core/smp/trace.h"

namespace sd::smp {

// The kernel's CSD_TYPE(). A plain read there; an irq_work that is on a list may be claimed again
// at the same time (an atomic or of bits that are set already), which is a race by the letter only.
static inline unsigned csd_type(const __call_single_node* node) {
  return data_race_read(&node->u_flags) & CSD_FLAG_TYPE_MASK;
}

static inline call_single_data_t* csd_of(llist_node* node) {
  return reinterpret_cast<call_single_data_t*>(node);
}
static inline __call_single_node* call_node_of(llist_node* node) {
  return reinterpret_cast<__call_single_node*>(node);
}

// Waits until LOCK is clear. Everything that the CPU which cleared it did before is visible then.
void csd_lock_wait(call_single_data_t* csd);
// Waits for the previous request of the csd and takes it for one to `cpu`. Not atomic:
// only one agent may try at a time, which its owner ensures (preemption is off, and no
// interrupt uses the csd).
void csd_lock(call_single_data_t* csd, unsigned cpu);
// Sets further bits of a csd that this CPU has locked and not queued yet.
void csd_set_flags(call_single_data_t* csd, unsigned flags);
// Gives the csd back, its type included. The caller must not touch it any more.
void csd_unlock(call_single_data_t* csd);

// Runs the function of a request; csd is for tracing only and may be gone (null: local execution).
static inline void csd_do_func(smp_call_func_t func, void* info, const call_single_data_t* csd) {
  trace(tp::func_entry, csd, reinterpret_cast<uint64_t>(func), reinterpret_cast<uint64_t>(info));
  func(info);
  trace(tp::func_exit, csd, reinterpret_cast<uint64_t>(func), reinterpret_cast<uint64_t>(info));
}

}  // namespace sd::smp
