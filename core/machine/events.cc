#include "core/machine/events.h"

namespace sd::machine::event {

namespace {

struct Registered {
  EventId id;
  engine::EventFormat format;
};

constexpr Registered kFormats[] = {
    {sched_switch, {"switch", "from", "to"}},
    {sched_migrate, {"migrate", "task", "to CPU"}},
    {task_wake, {"wake", "task", "on CPU"}},
    {task_block, {"block"}},
    {task_begin, {"task begins", "task"}},
    {task_end, {"task ends", "task"}},
    {ipi_send, {"send IPI", "to CPU", "vector"}},
    {ipi_lost, {"IPI lost", "CPU", "vector"}},
    {irq_enter, {"irq {", "vector"}},
    {irq_exit, {"} irq", "vector"}},
    {preempt_disable, {"preempt off", "depth"}},
    {preempt_enable, {"preempt on", "depth"}},
    {irqs_off, {"irqs off"}},
    {irqs_on, {"irqs on"}},
    {timer_fire, {"timer fires", "task"}},
    {cpu_online, {"ONLINE", "CPU"}},
    {cpu_offline, {"OFFLINE", "CPU"}},
    {cpu_active, {"active", "CPU", "set"}},
    {cpu_dead, {"DEAD", "CPU"}},
    {hotplug_begin, {"hotplug begins", "CPU", "up"}},
    {hotplug_end, {"hotplug ends", "CPU", "errno"}},
    {hotplug_state, {"hotplug state", "CPU", "state"}},
    {stop_run, {"stop_machine runs", "CPU"}},
    {stop_done, {"stop_machine done", "CPU"}},
    {rcu_gp_begin, {"grace period begins"}},
    {rcu_gp_end, {"grace period ends"}},
    {park, {"polls"}},
    {printk, {"printk", "length"}},
    {idle_halt, {"halt"}},
    {vcpu_kick, {"need resched", "CPU", "by IPI"}},
    {cpus_read_locked, {"cpus_read_lock"}},
    {cpus_read_unlocked, {"cpus_read_unlock"}},
    {softirq_raise, {"softirq_raise", "nr"}},
    {softirq_entry, {"softirq_entry", "nr"}},
    {softirq_exit, {"softirq_exit", "nr"}},
};

}  // namespace

void register_events() {
  for (const Registered& r : kFormats) engine::register_event(r.id, r.format);
}

}  // namespace sd::machine::event
