// The object of one call (struct scf_check of kernel/scftorture.c): what caller and handler write
// for each other to see, and, for calls to several CPUs, a record of who ran the function.
//
// Plain fields are plain on purpose, so that race detection sees a missing order; scfc_in and out
// are marked, so that a weak memory model may show stale values. What is called ghost is neither:
// it always holds the newest value, and is invisible to race detection.
#pragma once

#include "core/kernel/completion.h"
#include "core/smp/smp.h"
#include "torture/scf/scf.h"
#include "torture/scf/view.h"

namespace sd::scf {

// One CPU that a call may reach, or one stage of a relayed request.
struct scf_receiver {
  uint32_t scfc_out;  // the call's nonce, once the handler has run
  uint16_t ran;       // how often it ran; plain, written by that CPU's handler only
  uint16_t asked;     // how often the caller evaluated the condition, or issued an async call
  Fate fate;          // whether it must run, says the caller
};

struct scf_check {
  bool scfc_wait;
  bool scfc_rpc;
  bool scfc_kept;  // no-wait call to several CPUs: judged and freed at the end
  Prim prim;
  int scfc_cpu;      // single: the target; any: who ran it; else -1
  uint32_t scfc_in;  // the nonce, written last
  struct kernel::completion scfc_completion;
  kernel::cpumask mask;  // any, cond, on_each: whom the call asked for
  unsigned receivers;    // 1; for calls to several CPUs one for each CPU; relay: one for each stage
  unsigned may_miss;     // how many that must run are exempt: the caller, if it may have moved
  kernel::llist_node free_node;  // in a free pool
  scf_check* next_kept;
  // ghost
  uint32_t magic;
  uint32_t nonce;
  unsigned runs;  // handler runs of a kept object
  unsigned due;   // runs that will surely come; added to what the cleanup waits for
};

static inline scf_receiver* scf_receivers(scf_check* scfcp) {
  return reinterpret_cast<scf_receiver*>(scfcp + 1);
}
// Where the handler that runs on `cpu` leaves its traces.
static inline scf_receiver* scf_receiver_of(scf_check* scfcp, unsigned cpu) {
  return scf_receivers(scfcp) + (scfcp->receivers > 1 ? cpu : 0);
}

// nullptr: the allocation failed. All of it is the caller's until the call.
scf_check* scf_alloc(Prim prim, const char* fn = __builtin_FUNCTION());
// Publishes the nonce: after this the call is made.
void scf_arm(scf_check* scfcp, const char* fn = __builtin_FUNCTION());
// By whoever has it last, exactly once.
void scf_free(scf_check* scfcp, const char* fn = __builtin_FUNCTION());
// By handlers: since 6.13 they leave the object in their CPU's pool, and invoker cpu % nthreads
// frees it.
void scf_free_from_handler(scf_check* scfcp, const char* fn = __builtin_FUNCTION());
void scf_drain_pool(unsigned cpu, const char* fn = __builtin_FUNCTION());

// Fails the execution (S-I57) unless the object is live.
void scf_assert_live(const scf_check* scfcp, const char* what,
                     const char* fn = __builtin_FUNCTION());
// The caller's side of the memory-ordering check, for one receiver that has run.
void scf_check_out(scf_check* scfcp, unsigned cpu, const char* fn = __builtin_FUNCTION());

// Compares a call to several CPUs, all of whose handlers have run, with what its caller expected;
// returns how many CPUs ran it. `order`: the caller must see what the handlers wrote.
unsigned scf_judge(scf_check* scfcp, bool order, const char* fn = __builtin_FUNCTION());

}  // namespace sd::scf
