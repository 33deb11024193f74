// CONFIG_CSD_LOCK_WAIT_DEBUG (kernel/smp.c, Linux 6.12; v7.x: record by store-release): complaints
// about a csd lock that is waited for too long. Switched by the parameter csdlock_debug.
#pragma once

#include "core/smp/csd.h"
#include "core/smp/switches.h"

namespace sd::smp {

static inline bool csdlock_debug_enabled() {
  return param(Param::csdlock_debug) != 0;
}

// csd_lock_wait() with complaints.
void __csd_lock_wait(call_single_data_t* csd);
// What a look at a lock that is still held comes to; times in ns, interval 0: never complain. The
// clock of the machine never goes back for a task, so clock_went_backward is the
// kernel's case only.
enum class csd_look : uint8_t { early, clock_went_backward, complain };
csd_look csd_wait_look(uint64_t ts0, uint64_t ts1, uint64_t now, uint64_t interval);
// Notes what this CPU is about to execute, or with null that it is done with it.
void csd_lock_record(call_single_data_t* csd);
// The flush of the call queue was entered: the next complaint about this CPU may
// dump its stack again.
void csd_rearm_backtrace();
// Boot: values that are not zero.
void csd_debug_init();

// %ps: function names for messages. Who owns a function that is called across CPUs may name it,
// once per process; others are printed as "func". `name` must be a literal.
void name_symbol(smp_call_func_t func, const char* name);
const char* symbol_name(smp_call_func_t func);

}  // namespace sd::smp
