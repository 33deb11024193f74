// Grace periods. A reader is an rcu_read_lock section, or any region with preemption or interrupts
// off; a grace period waits for those that were under way when it began.
#include "core/machine/state.h"

namespace sd::machine {

namespace {

// An idle task is always in one section with preemption off, which does not count: RCU ignores idle
// CPUs. But what it does with interrupts off does, as its flush of the call queue.
bool reads(const Cpu& cpu) {
  const sd_task* task = cpu.current;
  const uint32_t base = task->sched_class == sd_task_class::idle ? 1 : 0;
  return cpu.hardirq_depth > 0 || task->rcu_depth > 0 || cpu.irqs_off || task->preempt_count > base;
}

}  // namespace

void Machine::synchronize_rcu(const char* fn) {
  while (gp_running_) block_on(&gp_done_, fn);
  gp_running_ = true;
  gp_waiting_ = 0;
  emit(event::rcu_gp_begin, nullptr, 0, 0, fn);
  for (Cpu& cpu : cpus_) {
    if (&cpu == cpu_ || !cpu.alive || !online(cpu.id) || !reads(cpu)) continue;
    cpu.needs_qs = true;
    ++gp_waiting_;
  }
  for (uint32_t i = 0; i < tasks_used_; ++i) {
    sd_task& task = *task_pool_[i];
    if (task.rcu_depth > 0 && task.state != sd_task_state::running &&
        task.state != sd_task_state::dead) {
      task.gp_blocked = true;
      ++gp_waiting_;
    }
  }
  while (gp_waiting_ > 0) block_on(&gp_done_, fn);
  gp_running_ = false;
  emit(event::rcu_gp_end, nullptr, 0, 0, fn);
  wake_waiters(&gp_done_, ~0u, false);
}

// The CPU may have left the reader that the grace period saw it in.
void Machine::rcu_quiescent(Cpu& cpu) {
  if (!reads(cpu)) rcu_passed(cpu);
}

// The CPU reads nothing that it has read since the grace period began.
void Machine::rcu_passed(Cpu& cpu) {
  if (!cpu.needs_qs) return;
  cpu.needs_qs = false;
  if (--gp_waiting_ == 0) wake_waiters(&gp_done_, ~0u, false);
}

void Machine::rcu_task_unlocked(sd_task* task) {
  if (!task->gp_blocked) return;
  task->gp_blocked = false;
  if (--gp_waiting_ == 0) wake_waiters(&gp_done_, ~0u, false);
}

// `prev` leaves the CPU: a reader that was preempted is waited for as a task.
void Machine::rcu_switch(Cpu& cpu, sd_task* prev) {
  if (cpu.needs_qs && prev->rcu_depth > 0) {
    cpu.needs_qs = false;
    prev->gp_blocked = true;
  } else {
    rcu_passed(cpu);
  }
}

}  // namespace sd::machine
