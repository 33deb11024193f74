// Tasks, run queues, switches, blocking and waking.
#include <algorithm>
#include <cstring>

#include "core/engine/sanitizer.h"
#include "core/machine/cost.h"
#include "core/machine/state.h"

namespace sd::machine {

using engine::Failure;
using engine::FailureKind;
using engine::Purpose;

// ---- lists

void TaskList::push_back(sd_task* task) {
  task->queue_next = nullptr;
  if (tail) {
    tail->queue_next = task;
  } else {
    head = task;
  }
  tail = task;
  ++size;
}

sd_task* TaskList::pop_at(uint32_t index) {
  sd_task* task = head;
  while (index-- > 0) task = task->queue_next;
  remove(task);
  return task;
}

bool TaskList::remove(sd_task* task) {
  sd_task* before = nullptr;
  for (sd_task* t = head; t; before = t, t = t->queue_next) {
    if (t != task) continue;
    (before ? before->queue_next : head) = t->queue_next;
    if (tail == t) tail = before;
    t->queue_next = nullptr;
    --size;
    return true;
  }
  return false;
}

namespace {

void waitq_push(sd_waitq* queue, sd_task* task) {
  task->queue = queue;
  task->queue_next = nullptr;
  if (queue->tail) {
    queue->tail->queue_next = task;
  } else {
    queue->head = task;
  }
  queue->tail = task;
}

void waitq_remove(sd_waitq* queue, sd_task* task) {
  sd_task* before = nullptr;
  for (sd_task* t = queue->head; t; before = t, t = t->queue_next) {
    if (t != task) continue;
    (before ? before->queue_next : queue->head) = t->queue_next;
    if (queue->tail == t) queue->tail = before;
    break;
  }
  task->queue_next = nullptr;
  task->queue = nullptr;
}

}  // namespace

// ---- creation and end

sd_task* Machine::create_task(void (*entry)(void*), void* arg, const char* name,
                              sd_task_class sched_class, unsigned cpu) {
  const engine::TsanIgnore ignore;
  if (tasks_used_ == kMaxTasks) return nullptr;
  if (tasks_used_ == task_pool_.size()) task_pool_.push_back(std::make_unique<sd_task>());
  sd_task* task = task_pool_[tasks_used_].get();
  *task = sd_task{};
  task->id = static_cast<uint16_t>(tasks_used_++);
  task->cpu = static_cast<uint16_t>(cpu);
  task->sched_class = sched_class;
  task->entry = entry;
  task->arg = arg;
  task->flags = task_flags_ + task->id * (engine::kCacheLine / sizeof(uint32_t));
  *task->flags = 0;
  std::strncpy(task->name, name, sizeof(task->name) - 1);
  return task;
}

// It has never run, and never will. Its place is free again if no other task was created meanwhile.
void Machine::forget_task(sd_task* task) {
  task->state = sd_task_state::dead;
  if (task->id + 1u == tasks_used_) --tasks_used_;
}

// The function of the current task has returned; on its own fiber. Comes back only if the task, a
// daemon, was woken again.
void Machine::task_returned() {
  if (stopping_) {
    sd_task* self = cpu_->current;
    self->fiber->start(fiber_main, self);
    engine::Fiber::switch_to(self->fiber, engine::Fiber::driver());
    return;
  }
  sd_task* self = cpu_->current;
  if (self->preempt_count != 0 || cpu_->irqs_off) {
    Failure failure = failure_here(FailureKind::bug, "BUG", "task_exit");
    failure.message = "a task ended with preemption or interrupts disabled";
    fail(std::move(failure));
  }
  emit(event::task_end, nullptr, self->id, 0, "");
  if (self->daemon) {
    self->fiber->start(fiber_main, self);
    if (self->woken_again) {
      self->woken_again = false;
      self->command = sd_task::Command::go;
      return;
    }
    self->state = sd_task_state::blocked;
  } else {
    if (ops_.task_freed) ops_.task_freed(self);  // has scheduling points
    self->state = sd_task_state::dead;
    --live_tasks_;
  }
  switch_current(*cpu_, pick_next(*cpu_));
  refresh(*cpu_);
  for (;;) {
    const uint32_t action = pick_action();
    if (action == kFinished) return engine::Fiber::switch_to(self->fiber, engine::Fiber::driver());
    sd_task* target = perform(action);
    if (!target) continue;
    if (target != self) resume(self, target);
    return;
  }
}

// ---- switching

sd_task* Machine::pick_next(Cpu& cpu) {
  if (cpu.stopper_runnable) {
    cpu.stopper_runnable = false;
    return cpu.stopper;
  }
  if (cpu.queue.empty()) return cpu.idle;
  const uint32_t index = cpu.queue.size > 1 ? choose(cpu.queue.size, Purpose::next_task) : 0;
  sd_task* task = cpu.queue.pop_at(index);
  dequeued(task);
  return task;
}

// Makes `next` the current task of `cpu`; where the old one goes is the caller's business.
void Machine::switch_current(Cpu& cpu, sd_task* next) {
  sd_task* prev = cpu.current;
  if (engine::kTsan && prev->started) {
    // A switch is a full barrier, and the CPU's view goes from one task to the next.
    const engine::Fiber::Impersonate as(running_task_->fiber, prev->fiber);
    memory_.fence(cpu.id, engine::Fence::mb);
    engine::tsan_release(&cpu_tokens_[cpu.id]);
  }
  prev->time_ns = cpu.time_ns;
  prev->irqs_off = cpu.irqs_off;
  if (prev->sched_class != sd_task_class::idle) {
    *prev->flags = *prev->flags & ~static_cast<uint32_t>(sd_tif_need_resched);
  }
  emit_on(cpu, event::sched_switch, nullptr, prev->id, next->id, "");
  cpu.current = next;
  cpu.irqs_off = next->irqs_off;
  cpu.time_ns = std::max(cpu.time_ns, next->time_ns) + cost::kSwitchNs;
  next->cpu = static_cast<uint16_t>(cpu.id);
  next->state = sd_task_state::running;
  next->acquire_cpu = true;
  // It may wake a task, also to run here: the CPU's new task has to hear of that.
  if (gp_running_) rcu_switch(cpu, prev);
}

void Machine::preempt(Cpu& cpu) {
  sd_task* prev = cpu.current;
  sd_task* next = pick_next(cpu);
  switch_current(cpu, next);
  put_back(cpu, prev);
  refresh(cpu);
}

// Why the current context may not sleep; nullptr: it may.
const char* Machine::atomic_context() const {
  const sd_task* self = cpu_->current;
  if (cpu_->hardirq_depth != 0) return "in an interrupt";
  if (cpu_->irqs_off) return "with interrupts disabled";
  if (self->rcu_depth != 0) return "inside rcu_read_lock()";
  const uint32_t base = self->sched_class == sd_task_class::idle ? 1 : 0;
  return self->preempt_count != base ? "with preemption disabled" : nullptr;
}

void Machine::might_sleep(const char* fn) {
  if (!running_ || stopping_) return;
  const char* why = atomic_context();
  if (!why && cpu_->current == cpu_->idle) why = "by an idle task";
  if (!why) return;
  Failure failure = failure_here(FailureKind::bug, "sleep-in-atomic", fn);
  failure.message = std::string("sleeping function called from invalid context: ") + fn + " by " +
                    cpu_->current->name + " " + why;
  fail(std::move(failure));
}

void Machine::schedule() {
  Cpu& cpu = *cpu_;
  sd_task* self = cpu.current;
  if (const char* why = atomic_context()) {
    Failure failure =
        failure_here(FailureKind::bug, "scheduling-while-atomic", self->wait_function);
    failure.message = "scheduling while atomic: " + std::string(self->name) + " waits for " +
                      self->wait_for + " " + why;
    fail(std::move(failure));
  }
  const bool yields =
      self->state == sd_task_state::running && self->sched_class != sd_task_class::idle;
  if (yields && !cpu.stopper_runnable && cpu.queue.empty()) return;
  switch_current(cpu, pick_next(cpu));
  if (yields) put_back(cpu, self);
  refresh(cpu);
  dispatch(self);
}

// ---- run queues

bool Machine::can_leave(const sd_task* task) const {
  return task->sched_class == sd_task_class::normal && !task->per_cpu_kthread &&
         task->migrate_disabled == 0;
}

void Machine::put_back(Cpu& cpu, sd_task* task) {
  if (task->sched_class == sd_task_class::idle) return;
  task->state = sd_task_state::runnable;
  if (task->sched_class == sd_task_class::stopper) {
    cpu.stopper_runnable = true;
    return refresh(cpu);
  }
  const bool bound_elsewhere =
      task->bound != sd_any_cpu && task->bound != cpu.id && active(task->bound);
  const bool pushes = cpu.balance_push && bit(dying_, cpu.id);
  const bool leaves = can_leave(task) && (pushes || bound_elsewhere);
  enqueue(task, leaves ? select_cpu(task) : cpu.id);
}

void Machine::enqueue(sd_task* task, unsigned cpu_id) {
  Cpu& cpu = cpus_[cpu_id];
  if (task->cpu != cpu_id) emit_on(cpu, event::sched_migrate, nullptr, task->id, cpu_id, "");
  task->state = sd_task_state::runnable;
  task->cpu = static_cast<uint16_t>(cpu_id);
  cpu.queue.push_back(task);
  if (can_leave(task) && task->bound == sd_any_cpu && config_.cpus > 1) {
    task->waiting_slot = static_cast<uint32_t>(migratable_.size()) + 1;
    migratable_.push_back(task);
    actions_.enable(migrate_action(config_), engine::ActionClass::disturb, OpKind::none, nullptr);
  }
  kick(cpu);
  refresh(cpu);
}

// The task has just been taken out of its run queue.
void Machine::dequeued(sd_task* task) {
  if (task->waiting_slot == 0) return;
  sd_task* last = migratable_.back();
  migratable_[task->waiting_slot - 1] = last;
  last->waiting_slot = task->waiting_slot;
  migratable_.pop_back();
  task->waiting_slot = 0;
  if (migratable_.empty()) actions_.disable(migrate_action(config_));
}

// Whether the current task gives way where it is asked. If another one waits, some tick
// will have told it to.
bool Machine::resched_due() {
  const Cpu& cpu = *cpu_;
  if (*cpu.current->flags & sd_tif_need_resched || cpu.stopper_runnable) return true;
  return !cpu.queue.empty() && choose(2, Purpose::next_task) == 0;
}

// Requests a reschedule of the CPU's current task, as resched_curr() does.
void Machine::kick(Cpu& cpu) {
  sd_task* current = cpu.current;
  const uint32_t old = *current->flags;
  if (old & sd_tif_need_resched) return;
  memory_.rmw(cpu_->id, current->flags, engine::RmwOp::bor, sd_tif_need_resched, 4,
              engine::Order::relaxed);
  wake_parked(current->flags);
  if (current->sched_class != sd_task_class::idle) return;
  const bool local = cpu_ == &cpu && cpu.hardirq_depth > 0;
  const bool ipi = !(old & sd_tif_polling) && !local;
  emit_on(cpu, event::vcpu_kick, nullptr, cpu.id, ipi, "");
  if (ipi) {
    raise(cpu.id, sd_vec_reschedule,
          cpu_->time_ns + cost::kIpiLatencyNs[topology_.distance(cpu_->id, cpu.id)], false);
  }
}

unsigned Machine::select_cpu(sd_task* task) {
  if (task->per_cpu_kthread) return task->bound;
  if (task->migrate_disabled) return task->cpu;
  if (task->bound != sd_any_cpu && active(task->bound)) return task->bound;
  const uint32_t shift = config_.cpus > 1 ? choose(config_.cpus, Purpose::wake_cpu) : 0;
  for (unsigned i = 0; i < config_.cpus; ++i) {
    const unsigned cpu = (task->cpu + shift + i) % config_.cpus;
    if (active(cpu)) return cpu;
  }
  return task->cpu;
}

void Machine::migrate_one() {
  const auto waiting = static_cast<uint32_t>(migratable_.size());
  sd_task* task = migratable_[waiting > 1 ? choose(waiting, Purpose::migrate_task) : 0];
  unsigned target = choose(config_.cpus, Purpose::migrate_cpu);
  for (unsigned i = 0; i < config_.cpus && !active(target); ++i)
    target = (target + 1) % config_.cpus;
  if (target == task->cpu || !active(target)) return;
  Cpu& from = cpus_[task->cpu];
  from.queue.remove(task);
  dequeued(task);
  refresh(from);
  enqueue(task, target);
}

// set_cpus_allowed_ptr() for one CPU. A running caller goes there by way of its CPU's stopper.
bool Machine::bind_task(sd_task* task, unsigned cpu_id, const char* fn) {
  const bool fresh = task->state == sd_task_state::created;  // kthread_bind(): takes any CPU
  if (cpu_id != sd_any_cpu && (cpu_id >= config_.cpus || !(fresh || active(cpu_id)))) return false;
  task->bound = cpu_id;
  if (task->state == sd_task_state::runnable && task->sched_class == sd_task_class::normal) {
    Cpu& from = cpus_[task->cpu];
    from.queue.remove(task);
    dequeued(task);
    refresh(from);
    enqueue(task, cpu_id == sd_any_cpu ? task->cpu : select_cpu(task));
  }
  while (task == cpu_->current && running_ && task->bound != sd_any_cpu &&
         task->bound != cpu_->id && active(task->bound)) {
    StopWork work;
    work.rendezvous = false;
    work.name = "migration_cpu_stop";
    work.fn = [](void* machine) {
      auto* m = static_cast<Machine*>(machine);
      if (m->ops_.stopper_flush) m->ops_.stopper_flush();
      return 0;
    };
    work.arg = this;
    queue_stop(*cpu_, &work);
    while (!work.finished) block_on(&work.done, fn);
  }
  return true;
}

// balance_push(): everything that may leave this CPU's queue goes elsewhere.
void Machine::push_away(Cpu& cpu) {
  for (uint32_t left = cpu.queue.size; left > 0; --left) {
    sd_task* task = cpu.queue.pop_at(0);
    dequeued(task);
    if (can_leave(task)) {
      enqueue(task, select_cpu(task));
    } else {
      enqueue(task, cpu.id);
    }
  }
  refresh(cpu);
}

// ---- blocking and waking

void Machine::block(const char* what, const char* fn) {
  sd_task* self = cpu_->current;
  self->state = sd_task_state::blocked;
  self->wait_function = fn;
  self->wait_for = what;
  self->op = OpKind::sleep;
  self->op_addr = self->queue;
  emit(event::task_block, self->queue, 0, 0, fn);
  schedule();
}

void Machine::block_on(sd_waitq* queue, const char* fn) {
  waitq_push(queue, cpu_->current);
  block("a wake-up", fn);
}

// The run queue's lock, between who enqueues the task and the CPU that takes it.
void Machine::order_wakeup(sd_task* task) {
  if (!running_) return;
  engine::tsan_release(task);
  task->acquire_waker = true;
}

void Machine::make_runnable(sd_task* task, unsigned chosen_cpu) {
  fruitless_deadlines_ = 0;
  not_before(task, cpu_->time_ns);
  order_wakeup(task);
  if (task->sched_class == sd_task_class::stopper) {
    Cpu& cpu = cpus_[task->cpu];
    task->state = sd_task_state::runnable;
    cpu.stopper_runnable = true;
    emit_on(cpu, event::task_wake, nullptr, task->id, cpu.id, "");
    kick(cpu);
    return refresh(cpu);
  }
  if (task->state == sd_task_state::waking) chosen_cpu = task->cpu;
  const bool chosen = chosen_cpu != sd_any_cpu && active(chosen_cpu);
  const unsigned cpu = chosen ? chosen_cpu : select_cpu(task);
  emit(event::task_wake, nullptr, task->id, cpu, "");
  enqueue(task, cpu);
}

bool Machine::wake(sd_task* task, bool may_queue, const char* fn) {
  const bool first = task->state == sd_task_state::created;
  if (!first && task->state != sd_task_state::blocked) {
    task->woken_again = task->daemon;
    return task->daemon;
  }
  if (task->queue) waitq_remove(task->queue, task);
  if (task->timer_deadline) cancel_timer(task);
  if (first && !task->daemon) ++live_tasks_;
  // A remote wake-up may go through the other CPU's call queue (TTWU_QUEUE), where the kernel would
  // decide by cache topology and load.
  constexpr uint32_t kQueuedOneIn = 4;
  unsigned cpu = sd_any_cpu;
  if (may_queue && ops_.ttwu_queue && !first && task->sched_class == sd_task_class::normal &&
      config_.cpus > 1) {
    cpu = select_cpu(task);
    if (cpu != cpu_->id && active(cpu) &&
        choose(kQueuedOneIn, Purpose::wake_path) == kQueuedOneIn - 1) {
      task->state = sd_task_state::waking;
      task->cpu = static_cast<uint16_t>(cpu);
      task->wait_function = fn;
      task->wait_for = "its wake-up in a call queue";
      order_wakeup(task);
      const bool irqs_off = cpu_->irqs_off;
      cpu_->irqs_off = true;
      const bool queued = ops_.ttwu_queue(task, cpu);
      cpu_->irqs_off = irqs_off;
      if (gp_running_) rcu_quiescent(*cpu_);
      refresh(*cpu_);
      if (queued) return true;
    }
  }
  make_runnable(task, cpu);
  return true;
}

sd_task* Machine::pop_waiter(sd_waitq* queue) {
  sd_task* task = queue->head;
  if (task) waitq_remove(queue, task);
  return task;
}

unsigned Machine::wake_waiters(sd_waitq* queue, unsigned limit, bool may_queue) {
  unsigned woken = 0;
  while (woken < limit) {
    sd_task* task = pop_waiter(queue);
    if (!task) break;
    wake(task, may_queue, "wake_up");
    ++woken;
  }
  return woken;
}

}  // namespace sd::machine
