#include "core/oracle/queue.h"

#include "core/machine/config.h"
#include "core/machine/events.h"
#include "core/machine/sd.h"
#include "core/smp/trace.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;

Queue::Queue(const View& view, Sink sink) : Oracle(view, sink), tasks_(machine::kMaxTasks) {}

std::vector<EventId> Queue::interests() const {
  return {engine::event::rmw,
          mev::ipi_send,
          mev::idle_halt,
          mev::irq_enter,
          mev::cpu_online,
          mev::cpu_offline,
          tp::call_begin,
          tp::call_end,
          tp::call_unpinned,
          tp::csd_wait_begin,
          tp::wake_idle_without_ipi,
          tp::csd_resend_ipi};
}

void Queue::on_begin() {
  ++execution_;
  const unsigned n = view().nr_cpus();
  if (cpus_.size() != n) cpus_.resize(n);
  for (unsigned cpu = 0; cpu < n; ++cpu) {
    Cpu& c = cpus_[cpu];
    c.online = c.halted = view().cpu_online(cpu);
    c.filled = false;
    c.owing.clear();
    c.owing.reserve(4);
  }
  heads_.reset(view());
  ipis_ = IpiCounts{};
}

Queue::Task& Queue::task_state(uint16_t task) {
  Task& state = tasks_[task];
  if (state.execution != execution_) state = Task{execution_, 0, 0, false};
  return state;
}

void Queue::on_event(const Event& event) {
  switch (event.id) {
    case engine::event::rmw:
      return queue_operation(event);
    case mev::ipi_send:
      if (event.b == sd_vec_call_function_single || event.b == sd_vec_call_function) {
        bool& resends = task_state(event.task).resends;
        const bool owed = notified(event, static_cast<unsigned>(event.a));
        ++ipis_.sent;
        if (!owed && !resends) ++ipis_.superfluous;
        resends = false;
      }
      return;
    case tp::csd_resend_ipi:
      task_state(event.task).resends = true;
      return;
    case tp::wake_idle_without_ipi: {
      const auto cpu = static_cast<unsigned>(event.a);
      notified(event, cpu);
      if (cpus_[cpu].halted) check(event, cpu);
      return;
    }
    case mev::idle_halt:
      cpus_[event.cpu].halted = true;
      return check(event, event.cpu);
    case mev::irq_enter:
      cpus_[event.cpu].halted = false;
      return;
    case mev::cpu_online:
    case mev::cpu_offline: {
      Cpu& cpu = cpus_[event.a];
      cpu.online = event.id == mev::cpu_online;
      cpu.halted = false;
      return;
    }
    case tp::call_begin:
      ++task_state(event.task).level;
      return;
    case tp::call_end: {
      Task& state = task_state(event.task);
      if (state.level > 0) --state.level;
      return;
    }
    case tp::call_unpinned:
    case tp::csd_wait_begin:
      if (task_state(event.task).owes != 0) section_ends(event);
      return;
    default:
      return;
  }
}

void Queue::queue_operation(const Event& event) {
  const int index = heads_.cpu_of(event.obj);
  if (index < 0) return;
  Cpu& cpu = cpus_[static_cast<unsigned>(index)];
  cpu.filled = event.b != 0;
  if (event.b == 0 || event.a != 0) return;
  Task& state = task_state(event.task);
  ++state.owes;
  cpu.owing.push_back(Adder{event.task, state.level});
}

// The current context has told the CPU. Returns whether it owed that, which it need not.
bool Queue::notified(const Event& event, unsigned cpu) {
  std::vector<Adder>& owing = cpus_[cpu].owing;
  Adder* innermost = nullptr;
  for (Adder& adder : owing) {
    if (adder.task == event.task && (!innermost || adder.level > innermost->level))
      innermost = &adder;
  }
  if (!innermost) return false;
  *innermost = owing.back();
  owing.pop_back();
  --task_state(event.task).owes;
  return true;
}

void Queue::section_ends(const Event& event) {
  const uint16_t level = task_state(event.task).level;
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    for (const Adder& adder : cpus_[cpu].owing) {
      if (adder.task != event.task || adder.level != level) continue;
      violate("S-I23", event,
              "{} on CPU {} found the queue of CPU {} empty, added to it, and goes on "
              "without having sent an IPI or found that CPU polling",
              task(event.task), event.cpu, cpu);
    }
  }
}

void Queue::check(const Event& event, unsigned cpu) {
  const Cpu& c = cpus_[cpu];
  if (!c.filled || !c.online || !c.owing.empty() || view().call_ipi_pending(cpu)) return;
  violate("S-I22", event,
          "CPU {} {} while its queue is not empty, no IPI is on its way and nobody is about to "
          "send one",
          cpu, event.id == mev::idle_halt ? "halts" : "is halted");
}

void Queue::on_end() {
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (!cpus_[cpu].filled || !cpus_[cpu].online || view().call_ipi_pending(cpu)) continue;
    Event event;
    event.cpu = static_cast<uint16_t>(cpu);
    event.function = "flush_smp_call_function_queue";
    violate("S-I22", event, "the execution is over and the queue of CPU {} is not empty", cpu);
  }
}

}  // namespace sd::oracle
