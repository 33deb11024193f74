// The functions that the torture's calls run on other CPUs.
#pragma once

#include "torture/scf/check.h"

namespace sd::scf {

// Parts of every handler.
// Checks its context, and counts it.
void scf_enter_handler(const char* fn);
// What handlers raise now and then, with softirqs; its action checks its context.
inline constexpr unsigned kScfSoftirq = 0;
void scf_softirq();
// Now and then it takes its time; with longwait some take seconds.
void scf_handler_delay(const char* fn);
// The caller's writes must be visible.
void scf_check_in(const scf_check* scfcp, const char* fn);

// info: the call's scf_check, or null if its allocation failed.
void scf_handler(void* info);        // calls to several CPUs
void scf_handler_1(void* info);      // to a certain one: scfc_cpu
void scf_handler_any(void* info);    // to one of scf_check::mask
void scf_handler_async(void* info);  // single_async: the invoker's record
void scf_handler_null(void* info);   // no-wait, without an object
void scf_irq_work(smp::irq_work* work);
bool scf_cond(int cpu, void* info);  // whether scf_check::mask has it
void scf_empty_handler(void* info);  // of the cleanup

int scf_on_cpu(
    void* info);  // smp_call_on_cpu: in process context; returns the nonce, 1 without object

}  // namespace sd::scf
