// Trace events of the machine (ids 32..95). obj/a/b as commented; cpu and task as in every event.
#pragma once

#include "core/engine/trace.h"
#include "core/machine/sd.h"

namespace sd::machine::event {

using engine::EventId;

// Registers their formats; the machine does, when it is built.
void register_events();

inline constexpr EventId sched_switch = 32;   // a = task id before, b = task id now
inline constexpr EventId sched_migrate = 33;  // a = task id, b = new cpu
inline constexpr EventId task_wake = 34;      // a = task id, b = cpu it will run on
// The current task leaves the CPU to wait; obj = what for.
inline constexpr EventId task_block = 35;
inline constexpr EventId task_begin = 36;  // first run of the current task
inline constexpr EventId task_end = 37;
inline constexpr EventId ipi_send = 38;         // a = target cpu, b = vector
inline constexpr EventId ipi_lost = 39;         // a = target cpu (dead or dying), b = vector
inline constexpr EventId irq_enter = 40;        // a = vector
inline constexpr EventId irq_exit = 41;         // a = vector
inline constexpr EventId preempt_disable = 42;  // a = depth after
inline constexpr EventId preempt_enable = 43;   // a = depth after
inline constexpr EventId irqs_off = 44;
inline constexpr EventId irqs_on = 45;
inline constexpr EventId timer_fire = 46;     // a = task id woken
inline constexpr EventId cpu_online = 47;     // a = cpu: its online bit is being set, right now
inline constexpr EventId cpu_offline = 48;    // a = cpu: its online bit is being cleared, right now
inline constexpr EventId cpu_active = 49;     // a = cpu, b = 1 set, 0 cleared
inline constexpr EventId cpu_dead = 50;       // a = cpu: halted for good
inline constexpr EventId hotplug_begin = 51;  // a = cpu, b = 1 up, 0 down
inline constexpr EventId hotplug_end = 52;    // a = cpu, b = 0 or errno
inline constexpr EventId hotplug_state = 53;  // a = cpu, b = state whose callback is about to run
// Every online CPU's stopper spins with IRQs off; fn runs now.
inline constexpr EventId stop_run = 54;
inline constexpr EventId stop_done = 55;
inline constexpr EventId rcu_gp_begin = 56;
inline constexpr EventId rcu_gp_end = 57;
inline constexpr EventId park = 58;    // the current context waits for obj to change
inline constexpr EventId printk = 59;  // obj = text (a static or live string; ring keeps none)
inline constexpr EventId idle_halt = 60;
// NEED_RESCHED was set for cpu a; b = 1 a reschedule IPI was needed.
inline constexpr EventId vcpu_kick = 61;
inline constexpr EventId cpus_read_locked = 62;
inline constexpr EventId cpus_read_unlocked = 63;
inline constexpr EventId softirq_raise = sd_event_softirq_raise;  // a = its number
inline constexpr EventId softirq_entry = sd_event_softirq_entry;
inline constexpr EventId softirq_exit = sd_event_softirq_exit;

}  // namespace sd::machine::event
