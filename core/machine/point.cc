// Scheduling points: where an execution branches.
#include "core/engine/sanitizer.h"
#include "core/machine/cost.h"
#include "core/machine/state.h"

namespace sd::machine {

using engine::ActionClass;
using engine::Failure;
using engine::FailureKind;
using engine::Fiber;

// Offers an interrupt for each of `deliverable`, and for no other vector.
void Machine::offer_irqs(Cpu& cpu, uint8_t deliverable) {
  for (unsigned vector = 0; vector < sd_nr_vectors; ++vector) {
    const uint32_t id = action_id(ActionKind::irq, cpu.id, vector);
    if (deliverable & (1u << vector)) {
      actions_.enable(id, ActionClass::deliver, OpKind::none, nullptr);
    } else {
      actions_.disable(id);
    }
  }
  cpu.offered = deliverable;
}

void Machine::offer_preemption(Cpu& cpu, bool preemptible) {
  const uint32_t id = action_id(ActionKind::preempt, cpu.id);
  if (preemptible) {
    actions_.enable(id, ActionClass::disturb, OpKind::none, nullptr);
  } else {
    actions_.disable(id);
  }
  cpu.preempt_offered = preemptible;
}

// At every point, with values that are as good as random: so conditions without branches.
void Machine::refresh(Cpu& cpu) {
  const sd_task* current = cpu.current;
  const uint32_t run = action_id(ActionKind::run, cpu.id);
  const bool runs = cpu.alive & !cpu.halted & !current->parked;
  if (__builtin_expect(runs, 1)) {
    actions_.enable(run, ActionClass::advance, current->op, current->op_addr);
  } else {
    actions_.disable(run);
  }

  const bool open = cpu.alive & !cpu.irqs_off & (cpu.hardirq_depth == 0);
  const uint8_t deliverable = cpu.pending & static_cast<uint8_t>(-static_cast<int>(open));
  if (__builtin_expect(deliverable != cpu.offered, 0)) offer_irqs(cpu, deliverable);

  const bool preemptible = open & config_.preempt_full & (current->preempt_count == 0) &
                           (current->sched_class == sd_task_class::normal) &
                           (cpu.stopper_runnable | !cpu.queue.empty());
  if (__builtin_expect(preemptible != cpu.preempt_offered, 0)) offer_preemption(cpu, preemptible);
}

void Machine::point(OpKind op, const volatile void* addr) {
  if (!running_) return;
  sd_task* self = cpu_->current;
  self->op = op;
  self->op_addr = addr;
  refresh(*cpu_);
  dispatch(self);
}

void Machine::dispatch(sd_task* self) {
  for (;;) {
    const uint32_t action = pick_action();
    if (action == kFinished) {
      Fiber::switch_to(self->fiber, Fiber::driver());
      return arrive(self);  // an idle task, told to end
    }
    sd_task* target = perform(action);
    if (!target) continue;
    if (target != self) resume(self, target);
    arrive(self);  // also if nobody else ran: it may have moved to another CPU
    if (self->command == sd_task::Command::go) return;
    run_irq(*cpu_, self->command_vector);
    refresh(*cpu_);
  }
}

void Machine::resume(sd_task* self, sd_task* target) {
  if (!target->fiber) {
    target->fiber = fibers_->acquire();
    SD_CHECK(target->fiber != nullptr);
    target->fiber->start(fiber_main, target);
  }
  running_task_ = target;
  Fiber::switch_to(self->fiber, target->fiber);
}

// On the fiber of `self`, which goes on from here, on the CPU that has taken it.
void Machine::arrive(sd_task* self) {
  cpu_ = &cpus_[self->cpu];
  running_task_ = self;
  if (!self->started) {
    self->started = true;
    engine::tsan_acquire(&start_token_);
  }
  if (!engine::kTsan) return;
  if (self->acquire_cpu) {
    self->acquire_cpu = false;
    engine::tsan_acquire(&cpu_tokens_[cpu_->id]);
  }
  if (self->acquire_waker) {
    self->acquire_waker = false;
    engine::tsan_acquire(self);
  }
}

void Machine::fiber_main(void* argument) {
  Machine& m = get();
  auto* self = static_cast<sd_task*>(argument);
  m.arrive(self);
  if (self->command == sd_task::Command::irq) {
    m.run_irq(*m.cpu_, self->command_vector);
    m.refresh(*m.cpu_);
    m.dispatch(self);
  }
  if (m.stopping_) return;
  m.emit(event::task_begin, nullptr, self->id, 0, "");
  self->entry(self->arg);
}

void Machine::on_fiber_return() {
  get().task_returned();
}

uint32_t Machine::pick_action() {
  if (cpu_->time_ns > latest_ns_) latest_ns_ = cpu_->time_ns;
  if (latest_ns_ >= timer_offer_at_ns_) refresh_timer_action();
  if (actions_.empty() && !nothing_can_run()) return kFinished;
  if (++steps_ > step_bound_) {
    Failure failure = failure_here(FailureKind::livelock, "livelock", cpu_->current->wait_function);
    failure.message = "the execution did not end within " + std::to_string(step_bound_) + " steps";
    failure.detail = describe_waiters();
    fail(std::move(failure));
  }
  if (actions_.size() == 1) return actions_.begin()->id;
  set_calm_action();
  const uint32_t index = chooser_->pick(actions_);
  SD_CHECK(index < actions_.size());
  ++choices_;
  const uint32_t id = actions_.at(index).id;
  trace_.mix(id);
  return id;
}

// The calmest: an interrupt for the current CPU, else its current context, else whatever advances.
// If nothing does, contexts poll for what others would do if they were let run: so each preemption
// in its turn, as ticks would have it, and when that has not helped, everything else in its turn. A
// schedule of calm choices alone gets on whenever any schedule does.
void Machine::set_calm_action() {
  const Cpu& cpu = *cpu_;
  if (__builtin_expect(cpu.offered, 0)) {
    const auto vector = static_cast<unsigned>(__builtin_ctz(cpu.offered));
    return actions_.set_calm(action_id(ActionKind::irq, cpu.id, vector));
  }
  const uint32_t run = action_id(ActionKind::run, cpu.id);
  if (actions_.enabled(run)) return actions_.set_calm(run);
  for (const engine::Action& action : actions_) {
    if (action.cls != ActionClass::disturb) return actions_.set_calm(action.id);
  }
  const uint32_t size = actions_.size();
  const uint32_t first = disturbances_ % size;
  if (disturbances_ < 4 * tasks_used_) {
    for (uint32_t i = 0; i < size; ++i) {
      const uint32_t id = actions_.begin()[(first + i) % size].id;
      if (id < migrate_action(config_) && action_kind(id) == ActionKind::preempt)
        return actions_.set_calm(id);
    }
  }
  actions_.set_calm(actions_.begin()[first].id);
}

sd_task* Machine::perform(uint32_t action) {
  if (action < migrate_action(config_)) {
    const ActionKind kind = action_kind(action);
    Cpu& cpu = cpus_[action >> kActionKindBits];
    if (kind < ActionKind::preempt) {
      disturbances_ = 0;
      const bool run = kind == ActionKind::run;
      cpu.current->command = run ? sd_task::Command::go : sd_task::Command::irq;
      cpu.current->command_vector = static_cast<uint8_t>(static_cast<uint32_t>(kind) -
                                                         static_cast<uint32_t>(ActionKind::irq));
      return cpu.current;
    }
    note_disturbance();
    preempt(cpu);
  } else {
    note_disturbance();
    if (action == migrate_action(config_)) {
      migrate_one();
    } else {
      fire_timer();
    }
  }
  return nullptr;
}

// Tasks that are only ever moved about, and never run, hang.
void Machine::note_disturbance() {
  const uint32_t only_disturbed = 5'000 + 64 * config_.cpus;
  if (++disturbances_ > only_disturbed) report_hang();
}

// No action is possible: time passes (true), or the execution has ended (false), or hangs.
bool Machine::nothing_can_run() {
  while (actions_.empty()) {
    if (live_tasks_ == 0) {
      if (somebody_is_stuck()) report_hang();
      return false;
    }
    if (timers_.empty()) report_hang();
    fire_timer();
  }
  return true;
}

// Whether a context that does not count as live, a worker or a hotplug thread, can go
// neither on nor back.
bool Machine::somebody_is_stuck() const {
  for (const Cpu& cpu : cpus_) {
    if (cpu.current != cpu.idle) return true;
  }
  for (uint32_t i = 0; i < tasks_used_; ++i) {
    if (task_pool_[i]->state == sd_task_state::waking) return true;
  }
  return false;
}

void Machine::report_hang() {
  Failure failure = failure_here(FailureKind::hang, "hang", "");
  // The busy-waiting context is the better name for the finding than a task that sleeps.
  const sd_task* culprit = nullptr;
  for (uint32_t i = 0; i < tasks_used_; ++i) {
    const sd_task* task = task_pool_[i].get();
    const bool idle = task->sched_class == sd_task_class::idle;
    const bool waits = task->parked || task->state == sd_task_state::waking ||
                       (task->state == sd_task_state::blocked && !task->daemon);
    if (idle || !waits) continue;
    if (!culprit || (task->parked && !culprit->parked)) culprit = task;
  }
  if (culprit) {
    failure.function = culprit->wait_function;
    failure.task = culprit->name;
    failure.cpu = culprit->cpu;
  }
  failure.message =
      "nothing can run any more, and " + std::to_string(live_tasks_) + " tasks have not ended";
  failure.detail = describe_waiters();
  fail(std::move(failure));
}

// ---- parking

namespace {

uintptr_t word_of(const volatile void* p) {
  return reinterpret_cast<uintptr_t>(p) & ~uintptr_t{7};
}
uint32_t bucket_of(const volatile void* p) {
  return static_cast<uint32_t>((word_of(p) * 0x9e3779b97f4a7c15u) >> 58);
}

}  // namespace

void Machine::park(const volatile void* p, uint64_t old, unsigned size, uint64_t deadline_ns,
                   const char* fn) {
  sd_task* self = cpu_->current;
  self->parked = true;
  self->park_addr = p;
  self->park_old = old;
  self->park_size = size;
  self->wait_function = fn;
  self->wait_for = "memory";
  sd_task*& bucket = parked_[bucket_of(p)];
  self->park_next = bucket;
  bucket = self;
  ++parked_count_;
  if (deadline_ns) arm_timer(self, deadline_ns);
  emit(event::park, p, 0, 0, fn);
  refresh(*cpu_);
  dispatch(self);
  if (self->timer_deadline) cancel_timer(self);
}

void Machine::unpark(sd_task* task) {
  sd_task** link = &parked_[bucket_of(task->park_addr)];
  while (*link != task) link = &(*link)->park_next;
  *link = task->park_next;
  task->park_next = nullptr;
  task->parked = false;
  --parked_count_;
  if (task->state == sd_task_state::running) refresh(cpus_[task->cpu]);
}

// The running context has changed what the task polls.
void Machine::unpark_by_store(sd_task* task) {
  unpark(task);
  Cpu& cpu = cpus_[task->cpu];
  const uint64_t seen = cpu_->time_ns + cost::kLineNs[topology_.distance(cpu_->id, cpu.id)];
  not_before(task, seen);
}

// Whatever the task does next, it does at this time or later. Whoever has preempted
// it is not held up.
void Machine::not_before(sd_task* task, uint64_t ns) {
  Cpu& cpu = cpus_[task->cpu];
  uint64_t& time_ns = cpu.current == task ? cpu.time_ns : task->time_ns;
  if (time_ns < ns) time_ns = ns;
}

void Machine::unpark_range(const volatile void* p, size_t size) {
  const auto low = reinterpret_cast<uintptr_t>(p);
  for (uint32_t i = 0; parked_count_ > 0 && i < tasks_used_; ++i) {
    sd_task* task = task_pool_[i].get();
    const auto at = reinterpret_cast<uintptr_t>(task->park_addr);
    if (task->parked && at >= low && at - low < size) unpark_by_store(task);
  }
}

void Machine::wake_parked(const volatile void* p) {
  if (parked_count_ == 0) return;
  sd_task* task = parked_[bucket_of(p)];
  while (task) {
    sd_task* next = task->park_next;
    if (word_of(task->park_addr) == word_of(p) &&
        engine::Memory::peek(task->park_addr, task->park_size) != task->park_old) {
      fruitless_deadlines_ = 0;
      unpark_by_store(task);
    }
    task = next;
  }
}

}  // namespace sd::machine
