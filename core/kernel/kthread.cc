#include "core/kernel/kthread.h"

#include <cerrno>

#include "core/kernel/compiler.h"
#include "core/kernel/percpu.h"
#include "core/kernel/rcuwait.h"

namespace sd::kernel {

namespace {

// In the first half of a task's storage; the second half belongs to the stack.
struct kthread_data {
  int (*threadfn)(void*);
  void* data;
  int result;
  unsigned should_stop;
  struct completion exited;
  struct sd_waitq rcuwait;  // itself, asleep in rcuwait_wait_event()
};
static_assert(sizeof(kthread_data) <= sd_task_storage_bytes / 2);

kthread_data* to_kthread(task_struct* k) {
  return static_cast<kthread_data*>(sd_task_storage(k));
}

void kthread(void* storage) {
  auto* self = static_cast<kthread_data*>(storage);
  self->result = self->threadfn(self->data);
  complete_all(&self->exited, "kthread");
}

// Workers of the per-CPU work queue.
struct worker_pool {
  task_struct* worker;
  work_struct* head;
  work_struct* tail;
};
DEFINE_PER_CPU(worker_pool, worker_pools);

void worker_thread(void* argument) {
  auto* pool = static_cast<worker_pool*>(argument);
  for (;;) {
    sd_point(sd_point_lock, pool, "worker_thread");
    sd_sync_acquire(pool);
    work_struct* work = pool->head;
    if (work) pool->head = work->next;
    if (!pool->head) pool->tail = nullptr;
    sd_sync_release(pool);
    if (!work) return;  // woken again by the next queue_work_on
    work->func(work);
  }
}

}  // namespace

struct sd_waitq* rcuwait_queue(task_struct* task) {
  return &to_kthread(task)->rcuwait;
}

void rcuwait_wake_up(struct rcuwait* w, const char* fn) {
  sd_sync_release(w);
  sd_fence(sd_mb, fn);
  task_struct* task = load_marked(&w->task, sd_relaxed, fn);
  if (!task) return;
  struct sd_waitq* queue = rcuwait_queue(task);
  sd_point(sd_point_lock, queue, fn);
  sd_wake_one(queue);
  sd_point(sd_point_wake, nullptr, fn);
}

task_struct* kthread_create(int (*threadfn)(void*), void* data, const char* name, const char*) {
  task_struct* k = sd_task_create(kthread, nullptr, name);
  if (!k) return nullptr;
  kthread_data* self = to_kthread(k);
  self->threadfn = threadfn;
  self->data = data;
  init_completion(&self->exited);
  sd_task_set_argument(k, self);
  return k;
}

task_struct* kthread_run(int (*threadfn)(void*), void* data, const char* name, const char* fn) {
  task_struct* k = kthread_create(threadfn, data, name, fn);
  if (k) wake_up_process(k, fn);
  return k;
}

void kthread_bind(task_struct* k, unsigned cpu, const char* fn) {
  sd_task_bind(k, cpu, fn);
}

int kthread_stop(task_struct* k, const char* fn) {
  kthread_data* self = to_kthread(k);
  store_marked(&self->should_stop, 1u, sd_relaxed, fn);
  wake_up_process(k, fn);
  return kthread_join(k, fn);
}

int kthread_join(task_struct* k, const char* fn) {
  wait_for_completion(&to_kthread(k)->exited, fn);
  return to_kthread(k)->result;
}

bool kthread_should_stop(const char* fn) {
  return load_marked(&to_kthread(current())->should_stop, sd_relaxed, fn) != 0;
}

int set_cpus_allowed_cpu(task_struct* p, unsigned cpu, const char* fn) {
  return sd_task_bind(p, cpu, fn) ? 0 : -EINVAL;
}

bool wake_up_process(task_struct* p, const char* fn) {
  return sd_task_wake(p, fn);
}

uint64_t schedule_timeout_interruptible(uint64_t timeout_jiffies, const char* fn) {
  const uint64_t left = sd_sleep_ns(timeout_jiffies * kNsPerJiffy, fn);
  return (left + kNsPerJiffy - 1) / kNsPerJiffy;
}

void udelay(uint64_t us, const char* fn) {
  sd_delay_ns(us * 1000, fn);
}

void queue_work_on(unsigned cpu, work_struct* work, const char* fn) {
  worker_pool* pool = per_cpu_ptr(worker_pools, cpu);
  work->next = nullptr;
  sd_point(sd_point_lock, pool, fn);
  sd_sync_acquire(pool);
  (pool->tail ? pool->tail->next : pool->head) = work;
  pool->tail = work;
  task_struct* worker = pool->worker;
  sd_sync_release(pool);
  if (!worker) {
    // As a pool's manager does: again, some time later.
    constexpr uint64_t kCreateCooldownNs = 1'000'000'000;
    while (!(worker = sd_task_create(worker_thread, pool, "kworker")))
      sd_sleep_ns(kCreateCooldownNs, fn);
    sd_task_set_daemon(worker);
    sd_task_bind(worker, cpu, fn);
    sd_sync_acquire(pool);
    // If another context was faster, this one never runs.
    if (!pool->worker) pool->worker = worker;
    worker = pool->worker;
    sd_sync_release(pool);
  }
  sd_task_wake(worker, fn);
}

}  // namespace sd::kernel
