// The rest of the C interface: the vCPU, tasks, idle, RCU, time, switches and reports.
#include <cstdio>

#include "core/engine/sanitizer.h"
#include "core/machine/cost.h"
#include "core/machine/state.h"

using namespace sd::machine;  // this file is one of the machine's doors
using sd::engine::Failure;
using sd::engine::FailureKind;
using sd::engine::Purpose;

namespace {

Machine& m() {
  return Machine::get();
}

void preempt_disable(const char* fn) {
  sd_task* self = m().current();
  ++self->preempt_count;
  m().charge(cost::kInstructionNs);
  m().emit(event::preempt_disable, nullptr, self->preempt_count, 0, fn);
}

void preempt_enable(const char* fn) {
  sd_task* self = m().current();
  if (self->preempt_count == 0) sd_bug(__FILE__, __LINE__, fn, "preempt_count underflow");
  --self->preempt_count;
  m().charge(cost::kInstructionNs);
  m().emit(event::preempt_enable, nullptr, self->preempt_count, 0, fn);
  if (m().gp_running_) m().rcu_quiescent(m().this_cpu());
}

void set_irqs(bool off, const char* fn) {
  Cpu& cpu = m().this_cpu();
  cpu.irqs_off = off;
  m().charge(cost::kInstructionNs);
  m().emit(off ? event::irqs_off : event::irqs_on, nullptr, 0, 0, fn);
  if (!off && m().gp_running_) m().rcu_quiescent(cpu);
}

std::string format(const char* fmt, va_list args) {
  char text[512];
  vsnprintf(text, sizeof(text), fmt, args);
  return text;
}

// What WARN and BUG print, as a line of the log and as a failure.
Failure splat(FailureKind kind, const char* id, const char* prefix, const char* file, int line,
              const char* fn, const char* fmt, va_list args) {
  const sd::engine::TsanIgnore ignore;
  const char* base = __builtin_strrchr(file, '/');
  Failure failure = m().failure_here(kind, id, fn);
  failure.message = prefix + format(fmt, args);
  failure.detail =
      std::string("at ") + (base ? base + 1 : file) + ":" + std::to_string(line) + "\n";
  m().printk(failure.message.c_str());
  return failure;
}

}  // namespace

extern "C" {

// ---- the vCPU

unsigned sd_nr_cpus(void) {
  return m().config_.cpus;
}
unsigned sd_this_cpu(void) {
  return m().cpu_->id;
}

void sd_preempt_disable(const char* fn) {
  m().point(OpKind::toggle, nullptr);
  preempt_disable(fn);
}

void sd_preempt_enable(const char* fn) {
  preempt_enable(fn);
  m().point(OpKind::none, nullptr);
}

void sd_preempt_enable_no_resched(const char* fn) {
  preempt_enable(fn);
}
unsigned sd_preempt_count(void) {
  return m().current()->preempt_count;
}
bool sd_preempt_model_full(void) {
  return m().config_.preempt_full;
}

void sd_local_irq_disable(const char* fn) {
  m().point(OpKind::toggle, nullptr);
  set_irqs(true, fn);
}

void sd_local_irq_enable(const char* fn) {
  set_irqs(false, fn);
  m().point(OpKind::none, nullptr);
}

bool sd_local_irq_save(const char* fn) {
  m().point(OpKind::toggle, nullptr);
  const bool were_enabled = !m().cpu_->irqs_off;
  if (were_enabled) set_irqs(true, fn);
  return were_enabled;
}

void sd_local_irq_restore(bool were_enabled, const char* fn) {
  if (were_enabled) sd_local_irq_enable(fn);
}

bool sd_irqs_disabled(void) {
  return m().cpu_->irqs_off;
}
unsigned sd_hardirq_depth(void) {
  return m().cpu_->hardirq_depth;
}
bool sd_in_task(void) {
  return m().cpu_->hardirq_depth == 0;
}

void sd_might_sleep(const char* fn) {
  m().might_sleep(fn);
}

void sd_cond_resched(const char* fn) {
  m().point(OpKind::toggle, nullptr);
  m().might_sleep(fn);
  sd_task* self = m().current();
  if (m().resched_due()) {
    self->wait_function = fn;
    self->wait_for = "cond_resched";
    m().schedule();
  }
}

void sd_send_ipi(unsigned cpu, sd_vector vector, const char* fn) {
  m().point(OpKind::ipi, nullptr);
  m().charge(cost::kIpiSendNs);
  m().emit(event::ipi_send, nullptr, cpu, vector, fn);
  m().raise(cpu, vector,
            m().cpu_->time_ns + cost::kIpiLatencyNs[m().topology_.distance(m().cpu_->id, cpu)],
            true);
  m().point(OpKind::none, nullptr);
}

bool sd_ipi_pending(unsigned cpu, sd_vector vector) {
  return (m().cpu(cpu).pending >> vector) & 1;
}

// ---- time

uint64_t sd_clock_ns(void) {
  return m().cpu_->time_ns;
}

void sd_delay_ns(uint64_t ns, const char*) {
  m().point(OpKind::relax, nullptr);
  m().charge(ns);
  m().point(OpKind::none, nullptr);
}

// ---- tasks

sd_task* sd_current(void) {
  return m().current();
}
unsigned sd_task_id(const sd_task* task) {
  return task->id;
}
const char* sd_task_name(const sd_task* task) {
  return task->name;
}
unsigned sd_task_cpu(const sd_task* task) {
  return task->cpu;
}
bool sd_task_is_idle(const sd_task* task) {
  return task->sched_class == sd_task_class::idle;
}
sd_task* sd_idle_task(unsigned cpu) {
  return m().cpu(cpu).idle;
}
sd_task* sd_curr_task(unsigned cpu) {
  return m().cpu(cpu).current;
}
unsigned sd_nr_running(unsigned cpu) {
  const Cpu& c = m().cpu(cpu);
  return c.queue.size + (c.current != c.idle ? 1u : 0u);
}
unsigned sd_nr_pinned(unsigned cpu) {
  return m().cpu(cpu).pinned;
}
volatile uint32_t* sd_task_flags(sd_task* task) {
  return task->flags;
}
void* sd_task_storage(sd_task* task) {
  return task->storage;
}

sd_task* sd_task_create(void (*entry)(void*), void* arg, const char* name) {
  m().might_sleep("sd_task_create");
  m().point(OpKind::alloc, nullptr);
  sd_task* task = m().create_task(entry, arg, name, sd_task_class::normal, m().cpu_->id);
  if (!task || !m().ops_.task_created || m().ops_.task_created(task, m().current())) return task;
  m().forget_task(task);
  return nullptr;
}

void sd_task_set_argument(sd_task* task, void* arg) {
  task->arg = arg;
}

bool sd_task_wake(sd_task* task, const char* fn) {
  m().point(OpKind::wake, task);
  const bool woken = m().wake(task, true, fn);
  m().point(OpKind::none, nullptr);
  return woken;
}

bool sd_task_bind(sd_task* task, unsigned cpu, const char* fn) {
  m().point(OpKind::toggle, task);
  const bool done = m().bind_task(task, cpu, fn);
  m().point(OpKind::none, nullptr);
  return done;
}

void sd_task_set_daemon(sd_task* task) {
  task->daemon = true;
}
void sd_task_set_per_cpu_kthread(sd_task* task) {
  task->per_cpu_kthread = true;
}

void sd_migrate_disable(const char*) {
  m().point(OpKind::toggle, nullptr);
  if (m().current()->migrate_disabled++ == 0) ++m().cpu_->pinned;
}

void sd_migrate_enable(const char*) {
  if (--m().current()->migrate_disabled == 0 && --m().cpu_->pinned == 0) {
    m().wake_waiters(&m().cpu_->empty_queue, ~0u, false);
  }
  m().point(OpKind::none, nullptr);
}

void sd_yield(const char* fn) {
  m().point(OpKind::toggle, nullptr);
  m().current()->wait_function = fn;
  m().current()->wait_for = "yield";
  m().schedule();
}

uint64_t sd_sleep_ns(uint64_t ns, const char* fn) {
  m().point(OpKind::sleep, nullptr);
  sd_task* self = m().current();
  const uint64_t deadline = m().cpu_->time_ns + ns + 1;
  m().arm_timer(self, deadline);
  m().block("a timer", fn);
  m().point(OpKind::none, nullptr);
  if (self->timer_fired || m().cpu_->time_ns >= deadline) return 0;
  return deadline - m().cpu_->time_ns;
}

void sd_block_on(sd_waitq* q, const char* fn) {
  m().block_on(q, fn);
}
unsigned sd_wake_one(sd_waitq* q) {
  return m().wake_waiters(q, 1, true);
}
unsigned sd_wake_all(sd_waitq* q) {
  return m().wake_waiters(q, ~0u, false);
}
void sd_point(sd_point_kind kind, const volatile void* p, const char*) {
  m().point(static_cast<OpKind>(kind), p);
}

// ---- RCU

void sd_rcu_read_lock(const char*) {
  m().point(OpKind::toggle, nullptr);
  ++m().current()->rcu_depth;
}

void sd_rcu_read_unlock(const char*) {
  sd_task* self = m().current();
  if (--self->rcu_depth == 0) {
    m().rcu_task_unlocked(self);
    if (m().gp_running_) m().rcu_quiescent(m().this_cpu());
  }
  m().point(OpKind::none, nullptr);
}

void sd_synchronize_rcu(const char* fn) {
  m().might_sleep(fn);
  m().point(OpKind::lock, &m().gp_done_);
  m().synchronize_rcu(fn);
  m().point(OpKind::none, nullptr);
}

// ---- idle

bool sd_idle_halt(const char* fn) {
  Machine& machine = m();
  if (machine.stopping_) return false;
  Cpu& cpu = machine.this_cpu();
  machine.emit(event::idle_halt, nullptr, 0, 0, fn);
  cpu.irqs_off = false;
  cpu.halted = true;
  if (machine.gp_running_) machine.rcu_quiescent(cpu);
  machine.point(OpKind::sleep, nullptr);
  return !machine.stopping_;
}

bool sd_machine_stopping(void) {
  return m().stopping_;
}

void sd_schedule_idle(const char* fn) {
  Machine& machine = m();
  if (machine.stopping_) return;
  sd_task* self = machine.current();
  *self->flags = *self->flags & ~static_cast<uint32_t>(sd_tif_need_resched);
  if (!machine.cpu_->stopper_runnable && machine.cpu_->queue.empty()) return;
  self->wait_function = fn;
  self->wait_for = "work";
  machine.schedule();
}

void sd_cpu_dead(void) {
  Machine& machine = m();
  if (machine.stopping_) return;
  Cpu& cpu = machine.this_cpu();
  machine.emit(event::cpu_dead, nullptr, cpu.id, 0, "arch_cpu_idle_dead");
  cpu.alive = false;
  machine.park_stopper(cpu);
  machine.wake_waiters(&machine.hotplug_.cpus[cpu.id].done, ~0u, false);
  machine.point(OpKind::end, nullptr);
}

// ---- decisions, switches

uint32_t sd_choose(uint32_t n, unsigned purpose) {
  return n > 1 ? m().choose(n, static_cast<Purpose>(purpose)) : 0;
}
bool sd_patch_on(unsigned patch) {
  return m().config_.patches[patch];
}
bool sd_bug_on(unsigned bug) {
  return m().config_.bugs[bug];
}
int64_t sd_param(unsigned param) {
  return m().config_.params[param];
}

// ---- topology

unsigned sd_cpu_to_node(unsigned cpu) {
  return m().topology_.node_of(cpu);
}
unsigned sd_nr_nodes(void) {
  return m().topology_.nodes();
}
unsigned sd_cpu_distance(unsigned a, unsigned b) {
  return m().topology_.distance(a, b);
}

// ---- reports

void sd_trace(uint8_t id, const volatile void* obj, uint64_t a, uint64_t b, const char* fn) {
  m().emit(id, obj, a, b, fn);
}

void sd_printk(const char* fmt, ...) {
  const sd::engine::TsanIgnore ignore;
  va_list args;
  va_start(args, fmt);
  const std::string text = format(fmt, args);
  va_end(args);
  m().printk(text.c_str());
}

void sd_warn(const char* file, int line, const char* fn, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  Failure failure = splat(FailureKind::warning, "WARN", "WARNING: ", file, line, fn, fmt, args);
  va_end(args);
  if (m().running_ && !m().config_.warnings_expected) m().fail(std::move(failure));
}

void sd_bug(const char* file, int line, const char* fn, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  Failure failure = splat(FailureKind::bug, "BUG", "BUG: ", file, line, fn, fmt, args);
  va_end(args);
  m().fail(std::move(failure));
}

void sd_fail(const char* id, const char* fn, const char* fmt, ...) {
  Failure failure;
  {
    const sd::engine::TsanIgnore ignore;
    va_list args;
    va_start(args, fmt);
    failure = m().failure_here(FailureKind::harness, id, fn);
    failure.message = format(fmt, args);
    va_end(args);
  }
  m().fail(std::move(failure));
}

void sd_register_stack(const sd_stack_ops* ops) {
  m().ops_ = *ops;
}

void sd_ttwu_activate(sd_task* task) {
  if (task->state != sd_task_state::waking) {
    sd_warn(__FILE__, __LINE__, "sched_ttwu_pending", "task %s is not being woken", task->name);
    return;
  }
  m().make_runnable(task);
}

}  // extern "C"
