#include "core/oracle/cpuhp.h"

#include <cstring>

#include "core/machine/config.h"
#include "core/machine/events.h"

namespace sd::oracle {

namespace mev = machine::event;

std::vector<EventId> Cpuhp::interests() const {
  return {mev::preempt_disable, mev::preempt_enable, mev::irq_enter,        mev::irq_exit,
          mev::sched_switch,    mev::stop_run,       mev::cpus_read_locked, mev::cpus_read_unlocked,
          mev::cpu_online,      mev::cpu_offline,    mev::cpu_active,       mev::hotplug_begin,
          mev::hotplug_end};
}

void Cpuhp::on_begin() {
  cpus_.assign(view().nr_cpus(), Cpu{});
  depth_.resize(machine::kMaxTasks);
  for (uint32_t i = 0; i < tasks_; ++i) depth_[i] = 0;
  tasks_ = readers_ = 0;
  up_ = died_ = false;
}

void Cpuhp::on_event(const Event& event) {
  switch (event.id) {
    case mev::preempt_disable:
    case mev::preempt_enable:
      depth_[event.task] = static_cast<uint16_t>(event.a);
      if (event.task >= tasks_) tasks_ = event.task + 1u;
      return;
    case mev::irq_enter:
      ++cpus_[event.cpu].irqs;
      return;
    case mev::irq_exit:
      --cpus_[event.cpu].irqs;
      return;
    case mev::sched_switch:
      cpus_[event.cpu].current = static_cast<uint16_t>(event.b);
      cpus_[event.cpu].known = true;
      return;
    case mev::stop_run:
      if (std::strcmp(event.function, "take_cpu_down") == 0) take_cpu_down(event);
      return;
    case mev::cpus_read_locked:
      ++readers_;
      return;
    case mev::cpus_read_unlocked:
      --readers_;
      return;
    case mev::cpu_offline:
      died_ = true;
      return mask_changes(event);
    case mev::cpu_online:
    case mev::cpu_active:
      return mask_changes(event);
    case mev::hotplug_begin:
      up_ = event.b != 0;
      died_ = false;
      return;
    case mev::hotplug_end:
      return operation_ends(event);
    default:
      return;
  }
}

bool Cpuhp::runs_somewhere(uint32_t task) const {
  for (const Cpu& cpu : cpus_) {
    if (cpu.known && cpu.current == task) return true;
  }
  return false;
}

void Cpuhp::take_cpu_down(const Event& event) const {
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (cpus_[cpu].irqs == 0) continue;
    violate("S-I32", event, "CPU {} is being taken down while CPU {} is in an interrupt handler",
            event.a, cpu);
  }
  for (uint32_t i = 0; i < tasks_; ++i) {
    if (depth_[i] == 0 || view().is_idle(i) || runs_somewhere(i)) continue;
    violate("S-I32", event, "CPU {} is being taken down while {} has preemption off", event.a,
            task(i));
  }
}

void Cpuhp::mask_changes(const Event& event) const {
  if (readers_ == 0) return;
  violate("S-I36", event, "the {} bit of CPU {} changes while cpus_read_lock() is held",
          event.id == mev::cpu_active ? "active" : "online", event.a);
}

void Cpuhp::operation_ends(const Event& event) const {
  const auto cpu = static_cast<unsigned>(event.a);
  const bool failed = event.b != 0;
  const bool online = view().cpu_online(cpu);
  const bool should_be = up_ ? !failed : failed && !died_;
  if (online == should_be && (!online || view().cpu_active(cpu))) return;
  violate("S-I38", event, "{} CPU {} has {}, and the CPU is {}",
          up_ ? "bringing up" : "taking down", cpu, failed ? "failed" : "succeeded",
          !online                  ? "offline"
          : view().cpu_active(cpu) ? "online"
                                   : "online but not active");
}

}  // namespace sd::oracle
