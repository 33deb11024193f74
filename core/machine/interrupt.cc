// Interrupts: raised by anyone, taken on top of whatever the CPU is doing.
#include "core/engine/sanitizer.h"
#include "core/machine/cost.h"
#include "core/machine/state.h"

namespace sd::machine {

void Machine::raise(unsigned cpu_id, unsigned vector, uint64_t when_ns, bool ordered) {
  Cpu& cpu = cpus_[cpu_id];
  if (!cpu.alive || cpu.irq_controller_off) {
    emit(event::ipi_lost, nullptr, cpu_id, vector, "");
    return;
  }
  if (ordered) engine::tsan_release(&ipi_tokens_[cpu_id * sd_nr_vectors + vector]);
  if (!(cpu.pending & (1u << vector))) cpu.irq_time_ns[vector] = when_ns;
  cpu.pending = static_cast<uint8_t>(cpu.pending | 1u << vector);
  refresh(cpu);
}

// On the fiber of the CPU's current task.
void Machine::run_irq(Cpu& cpu, unsigned vector) {
  cpu.pending = static_cast<uint8_t>(cpu.pending & ~(1u << vector));
  if (cpu.time_ns < cpu.irq_time_ns[vector]) cpu.time_ns = cpu.irq_time_ns[vector];
  cpu.time_ns += cost::kIrqEntryNs + (cpu.halted ? cost::kHaltWakeNs : 0);
  cpu.halted = false;
  cpu.irqs_off = true;
  ++cpu.hardirq_depth;
  // The interrupted context stands at its point and must find it unchanged.
  sd_task* task = cpu.current;
  const OpKind op = task->op;
  const volatile void* op_addr = task->op_addr;
  const bool parked = task->parked;
  if (parked) {
    unpark(task);
    if (task->timer_deadline) cancel_timer(task);  // it polls again, with a deadline of its own
  }
  engine::tsan_acquire(&ipi_tokens_[cpu.id * sd_nr_vectors + vector]);
  emit(event::irq_enter, nullptr, vector, 0, "");
  if (vector == sd_vec_timer) {
    handle_timer_vector();
  } else if (vector != sd_vec_reschedule) {
    ops_.handle_vector(vector);
  }
  emit(event::irq_exit, nullptr, vector, 0, "");
  --cpu.hardirq_depth;
  if (ops_.irq_exit) ops_.irq_exit();
  cpu.irqs_off = false;
  cpu.time_ns += cost::kIrqExitNs;
  task->op = op;
  task->op_addr = op_addr;
  if (gp_running_) rcu_quiescent(cpu);
}

// What was sent to this CPU so far arrives now, if it can. The context goes on afterwards.
void Machine::deliver_pending(Cpu& cpu) {
  while (cpu.pending && !cpu.irqs_off && cpu.hardirq_depth == 0) {
    run_irq(cpu, static_cast<unsigned>(__builtin_ctz(cpu.pending)));
  }
  refresh(cpu);
}

}  // namespace sd::machine
