// The machine, as its driver sees it: built once per process, reset for each execution.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/chooser.h"
#include "core/engine/trace.h"
#include "core/machine/config.h"
#include "core/machine/sd.h"

namespace sd::machine {

// Runs one execution: boots a machine of this configuration, runs `entry(arg)` as its first task
// (unbound, on CPU 0), and returns when every task has ended and nothing is pending, or at the
// first failure. Not reentrant; only one machine runs in a process at a time.
Outcome run(const Config& config, engine::Chooser& chooser, void (*entry)(void*), void* arg);

// Arranges anew what must not matter, for the executions from now on: another place for the
// machine's memory, with the addresses of allocations in the opposite order, other stacks for
// tasks, with other garbage on them, other places for tasks and CPUs. The next call goes back to
// the first arrangement, as far as there is one. What the last execution left behind cannot be
// described any more.
void disarrange();

// Where oracles attach, and reports read the last events. Lives as long as the process.
engine::Trace& trace();

// For observers and reports: the state of the current (or last) execution. No scheduling points.
const Config& config();
uint64_t steps_now();
const char* task_name(unsigned task_id);
bool task_is_idle(unsigned task_id);
// The last lines of printk of that execution, oldest first.
const std::vector<std::string>& kernel_log();
// "cpu2.call_single_queue+0", "heap:scf_check#17+8", "stack of
// scftorture_invoker/1": never an address.
std::string describe_address(const volatile void* p);
// The per-CPU variable of this name that p lies in, or false. For observers that watch
// memory operations.
bool percpu_of(const volatile void* p, size_t* offset, unsigned* cpu);
// Ends the execution with this failure; callable from observers (then it takes effect before the
// current operation returns) and from anything that runs on the machine. The first failure wins.
[[noreturn]] void fail(engine::Failure failure);
// Names of vectors and of waiting reasons, for reports.
const char* vector_name(unsigned vector);

}  // namespace sd::machine
