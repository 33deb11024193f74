// struct completion, spinlock_t, struct mutex. Their state changes are machine-atomic (the machine
// is the arbiter), with a scheduling point on each side; complete() orders everything before it
// before the return of the wait it ends, lock and unlock are acquire and release.
#pragma once

#include "core/kernel/preempt.h"
#include "core/machine/sd.h"

namespace sd::kernel {

struct completion {
  unsigned done;
  struct sd_waitq wait;
};

void init_completion(struct completion* x);
void complete(struct completion* x, const char* fn = __builtin_FUNCTION());
void complete_all(struct completion* x, const char* fn = __builtin_FUNCTION());
void wait_for_completion(struct completion* x, const char* fn = __builtin_FUNCTION());

// A raw spinlock: preemption is off while it is held; a contended waiter spins (parked) with
// interrupts as they are.
struct spinlock_t {
  unsigned locked;
};
void spin_lock_init(spinlock_t* lock);
void spin_lock(spinlock_t* lock, const char* fn = __builtin_FUNCTION());
void spin_unlock(spinlock_t* lock, const char* fn = __builtin_FUNCTION());
bool spin_lock_irqsave(spinlock_t* lock, const char* fn = __builtin_FUNCTION());
void spin_unlock_irqrestore(spinlock_t* lock, bool flags, const char* fn = __builtin_FUNCTION());

struct mutex {
  struct sd_task* owner;
  struct sd_waitq wait;
};
void mutex_init(struct mutex* lock);
void mutex_lock(struct mutex* lock, const char* fn = __builtin_FUNCTION());
void mutex_unlock(struct mutex* lock, const char* fn = __builtin_FUNCTION());

}  // namespace sd::kernel
