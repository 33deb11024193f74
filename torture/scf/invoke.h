// One operation of an invoker (scftorture_invoke_one of kernel/scftorture.c).
#pragma once

#include "torture/scf/state.h"

namespace sd::scf {

// Draws a primitive, makes the call, and checks what can be checked when it has returned.
void scftorture_invoke_one(Invoker* t);

// Whether the invoker has been bound to its CPU, without a break, since it was bound.
bool pin_intact(const Invoker* t);

// ---- parts, by file

// One call: where it stands between its parts.
struct Call {
  Invoker* t;
  Prim prim;
  bool wait;
  scf_check* scfcp;  // may be null: the allocation failed
};

// invoke_single.cc: to one CPU.
void invoke_single(const Call& call);
void invoke_single_rpc(const Call& call);
void invoke_any(const Call& call);
void invoke_async(const Call& call);
void invoke_irq_work(const Call& call);
void invoke_on_cpu(const Call& call);
// invoke_many.cc: to several.
void invoke_many(const Call& call);

// Whether calls of this invoker are made with preemption disabled as a whole, as before patch 9.
bool holds_preemption(const Invoker* t);
// Draws a set of CPUs into t->mask; all of them is the calmest.
void draw_mask(Invoker* t);
// With cpus_read_lock held, the online mask must not have changed (S-I36).
void check_read_locked(const Call& call, const View& view);

static inline void count_expected(const Call& call, int64_t n) {
  call.t->stats.expected += n;
}
static inline void count_offline(const Call& call) {
  ++call.t->stats.n_ofl[static_cast<unsigned>(call.prim)];
}

}  // namespace sd::scf
