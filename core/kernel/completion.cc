#include "core/kernel/completion.h"

#include "core/kernel/atomic.h"

namespace sd::kernel {

namespace {

// Brackets the machine-atomic steps of one primitive: between the two there is no scheduling point.
class Atomic {
 public:
  Atomic(void* lock, const char* fn) : lock_(lock) {
    sd_point(sd_point_lock, lock, fn);
    sd_sync_acquire(lock);
  }
  // The steps are done; whoever enters next is ordered after them.
  void leave() { sd_sync_release(lock_); }
  // Lets others in while the task sleeps.
  void block_on(sd_waitq* queue, const char* fn) {
    leave();
    sd_block_on(queue, fn);
    sd_sync_acquire(lock_);
  }

 private:
  void* lock_;
};

}  // namespace

void init_completion(struct completion* x) {
  *x = completion{};
}

void complete(struct completion* x, const char* fn) {
  Atomic section(x, fn);
  ++x->done;
  section.leave();
  sd_wake_one(&x->wait);  // x may be gone from here on
  sd_point(sd_point_wake, nullptr, fn);
}

void complete_all(struct completion* x, const char* fn) {
  Atomic section(x, fn);
  x->done = ~0u / 2;
  section.leave();
  sd_wake_all(&x->wait);
  sd_point(sd_point_wake, nullptr, fn);
}

void wait_for_completion(struct completion* x, const char* fn) {
  might_sleep(fn);
  Atomic section(x, fn);
  while (x->done == 0) section.block_on(&x->wait, fn);
  if (x->done < ~0u / 2) --x->done;
  section.leave();
  sd_point(sd_point_wake, nullptr, fn);
}

void spin_lock_init(spinlock_t* lock) {
  lock->locked = 0;
}

void spin_lock(spinlock_t* lock, const char* fn) {
  preempt_disable(fn);
  for (;;) {
    unsigned unlocked = 0;
    if (try_cmpxchg(&lock->locked, &unlocked, 1u, sd_acquire, fn)) return;
    sd_wait_change(&lock->locked, 1, sizeof(lock->locked), 0, fn);
  }
}

void spin_unlock(spinlock_t* lock, const char* fn) {
  store_marked(&lock->locked, 0u, sd_release, fn);
  preempt_enable(fn);
}

bool spin_lock_irqsave(spinlock_t* lock, const char* fn) {
  const bool flags = local_irq_save(fn);
  spin_lock(lock, fn);
  return flags;
}

void spin_unlock_irqrestore(spinlock_t* lock, bool flags, const char* fn) {
  store_marked(&lock->locked, 0u, sd_release, fn);
  local_irq_restore(flags, fn);
  preempt_enable(fn);
}

void mutex_init(struct mutex* lock) {
  *lock = mutex{};
}

void mutex_lock(struct mutex* lock, const char* fn) {
  might_sleep(fn);
  Atomic section(lock, fn);
  while (lock->owner) section.block_on(&lock->wait, fn);
  lock->owner = sd_current();
  section.leave();
  sd_point(sd_point_lock, nullptr, fn);
}

void mutex_unlock(struct mutex* lock, const char* fn) {
  Atomic section(lock, fn);
  lock->owner = nullptr;
  section.leave();
  sd_wake_one(&lock->wait);
  sd_point(sd_point_wake, nullptr, fn);
}

}  // namespace sd::kernel
