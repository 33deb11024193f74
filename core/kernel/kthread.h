// Kernel threads, sleeping and time.
#pragma once

#include <cstdint>

#include "core/kernel/completion.h"
#include "core/machine/sd.h"

namespace sd::kernel {

using task_struct = struct sd_task;

inline constexpr uint64_t kHz = 1000;  // jiffies per (virtual) second
inline constexpr uint64_t kNsPerJiffy = 1'000'000'000 / kHz;

static inline task_struct* current() {
  return sd_current();
}
static inline bool is_idle_task(const task_struct* p) {
  return sd_task_is_idle(p);
}
static inline unsigned task_cpu(const task_struct* p) {
  return sd_task_cpu(p);
}

// kthread_create: not running yet; wake_up_process starts it. Name is copied. nullptr: -ENOMEM.
// `fn` gets `data`; its return ends the thread (kthread_stop and kthread_join wait for that).
task_struct* kthread_create(int (*threadfn)(void*), void* data, const char* name,
                            const char* fn = __builtin_FUNCTION());
task_struct* kthread_run(int (*threadfn)(void*), void* data, const char* name,
                         const char* fn = __builtin_FUNCTION());
void kthread_bind(task_struct* k, unsigned cpu, const char* fn = __builtin_FUNCTION());
// Sets the should-stop flag, wakes the thread, waits for its end, returns its return value.
int kthread_stop(task_struct* k, const char* fn = __builtin_FUNCTION());
// Waits for the thread's own end.
int kthread_join(task_struct* k, const char* fn = __builtin_FUNCTION());
bool kthread_should_stop(const char* fn = __builtin_FUNCTION());
// 0, or -EINVAL if the CPU is offline. Moves a running caller at once (it is
// preempted and migrates).
int set_cpus_allowed_cpu(task_struct* p, unsigned cpu, const char* fn = __builtin_FUNCTION());
bool wake_up_process(task_struct* p, const char* fn = __builtin_FUNCTION());

static inline uint64_t sched_clock() {
  return sd_clock_ns();
}
static inline uint64_t jiffies() {
  return sd_clock_ns() / kNsPerJiffy;
}
// Interruptible sleep; returns jiffies left when woken early.
uint64_t schedule_timeout_interruptible(uint64_t timeout_jiffies,
                                        const char* fn = __builtin_FUNCTION());
void udelay(uint64_t us, const char* fn = __builtin_FUNCTION());

static inline void cpus_read_lock(const char* fn = __builtin_FUNCTION()) {
  sd_cpus_read_lock(fn);
}
static inline void cpus_read_unlock(const char* fn = __builtin_FUNCTION()) {
  sd_cpus_read_unlock(fn);
}

// Process-context work on a CPU's worker (queue_work_on(cpu, system_wq, work)). The work
// item is the caller's.
struct work_struct {
  void (*func)(work_struct* work);
  work_struct* next;
};
void queue_work_on(unsigned cpu, work_struct* work, const char* fn = __builtin_FUNCTION());

}  // namespace sd::kernel
