#include "core/oracle/hotplug.h"

#include "core/machine/events.h"
#include "core/machine/sd.h"
#include "core/smp/trace.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;
namespace eev = engine::event;

std::vector<EventId> Hotplug::interests() const {
  return {eev::rmw,
          eev::alloc,
          eev::free,
          mev::cpu_online,
          mev::cpu_offline,
          mev::cpu_dead,
          mev::hotplug_state,
          mev::hotplug_end,
          tp::func_entry,
          tp::smpcfd_dying_begin,
          tp::smpcfd_dying_end,
          tp::flush_begin,
          tp::flush_taken,
          tp::flush_end,
          tp::smpcfd_prepare,
          tp::smpcfd_dead,
          tp::irq_work_queue};
}

void Hotplug::on_begin() {
  cpus_.assign(view().nr_cpus(), Cpu{});
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    cpus_[cpu].online = view().cpu_online(cpu);
    cpus_[cpu].drained = !cpus_[cpu].online;
  }
  works_.clear();
  claims_ = 0;
  heads_.reset(view());
  preparing_ = false;
  burying_ = false;
}

void Hotplug::on_event(const Event& event) {
  switch (event.id) {
    case eev::rmw:
      return list_operation(event);
    case eev::alloc:
    case eev::free:
      if ((preparing_ || burying_) && event.task == preparer_ && event.irq_depth == 0 &&
          event.obj) {
        allocated_ += event.id == eev::alloc ? 1 : -1;
      }
      return;
    case tp::func_entry: {
      const Cpu& cpu = cpus_[event.cpu];
      if (!event.obj || cpu.online || cpu.dying) return;
      violate("S-I29", event,
              "a function that was queued to CPU {} runs there although the CPU is offline",
              event.cpu);
    }
    case tp::smpcfd_dying_begin:
      cpus_[event.a].dying = true;
      return;
    case tp::flush_begin:
      cpus_[event.cpu].warns = event.a != 0;
      return;
    case tp::flush_taken:
      if (!event.obj || !cpus_[event.cpu].warns || cpus_[event.cpu].online) return;
      violate("S-I34", event, "an IPI was sent to CPU {}, which is offline: its flush took {}",
              event.cpu, address(event.obj));
    case tp::flush_end:
      if (cpus_[event.cpu].dying) works_are_due(cpus_[event.cpu]);
      return;
    case tp::smpcfd_dying_end:
      return dying_end(event, cpus_[event.a]);
    case mev::cpu_offline:
      cpus_[event.a].online = false;
      return;
    case mev::cpu_online:
      cpus_[event.a].online = true;
      cpus_[event.a].drained = false;
      return;
    case mev::cpu_dead:
      if (cpus_[event.a].filled) {
        violate("S-I30", event, "CPU {} is dead, and its queue is not empty", event.a);
      }
      cpus_[event.a].drained = true;
      return;
    case tp::irq_work_queue:
      return work_claimed(event);
    case tp::smpcfd_dead:
      return dead_begin(event);
    case mev::hotplug_end:
      return dead_end(event);
    case mev::hotplug_state:
      dead_end(event);
      return prepare(event);
    case tp::smpcfd_prepare:
      return prepare(event);
    default:
      return;
  }
}

void Hotplug::list_operation(const Event& event) {
  const int queue = heads_.cpu_of(event.obj);
  if (queue >= 0)
    return queue_operation(event, cpus_[static_cast<unsigned>(queue)],
                           static_cast<unsigned>(queue));
  if (event.b != 0) {
    if (claims_ != 0) work_operation(event);
    return;
  }
  for (List& list : cpus_[event.cpu].lists) {
    if (list.head == event.obj) list.filled = list.due = false;
  }
}

void Hotplug::queue_operation(const Event& event, Cpu& cpu, unsigned index) {
  cpu.filled = event.b != 0;
  if (!cpu.filled) return;
  if (cpu.drained) {
    violate("S-I30", event,
            "{} on CPU {} queues {} to CPU {}, which is offline and has drained its queue for the "
            "last time",
            task(event.task), event.cpu, address(reinterpret_cast<const volatile void*>(event.b)),
            index);
  }
  Work* work =
      claims_ != 0 ? works_.find(reinterpret_cast<const volatile void*>(event.b)) : nullptr;
  if (!work || !work->claimed) return;
  work->claimed = false;
  --claims_;
}

// Something is set to the address of a claimed work: it is put on a list of this CPU.
void Hotplug::work_operation(const Event& event) {
  Work* work = works_.find(reinterpret_cast<const volatile void*>(event.b));
  if (!work || !work->claimed) return;
  work->claimed = false;
  --claims_;
  for (List& list : cpus_[event.cpu].lists) {
    if (list.head && list.head != event.obj) continue;
    list.head = event.obj;
    list.filled = true;
    return;
  }
}

void Hotplug::work_claimed(const Event& event) {
  if (event.b == 0) return;
  Work& work = works_.get(event.obj);
  if (!work.claimed) ++claims_;
  work.claimed = true;
}

void Hotplug::works_are_due(Cpu& cpu) {
  for (List& list : cpu.lists) list.due = list.filled;
}

void Hotplug::dying_end(const Event& event, Cpu& cpu) {
  cpu.dying = false;
  cpu.drained = true;
  if (cpu.filled) {
    violate("S-I30", event, "smpcfd_dying_cpu({}) returns, and the queue of the CPU is not empty",
            event.a);
  }
  for (const List& list : cpu.lists) {
    if (!list.due) continue;
    violate("S-I31", event,
            "smpcfd_dying_cpu({}) returns, and the irq_works of {} have not been taken", event.a,
            address(list.head));
  }
}

// smpcfd_prepare_cpu() stands between hotplug_state, of that state, and its own tracepoint.
void Hotplug::prepare(const Event& event) {
  if (event.id == mev::hotplug_state) {
    preparing_ = event.b == sd_cpuhp_smpcfd_prepare;
    preparer_ = event.task;
    allocated_ = 0;
    return;
  }
  if (preparing_ && event.b != 0 && allocated_ != 0) {
    violate("S-I39", event,
            "smpcfd_prepare_cpu({}) fails, and {} of the objects that it allocated are left",
            event.a, allocated_);
  }
  preparing_ = false;
}

// smpcfd_dead_cpu() stands between its tracepoint and the next state, or the end of the operation.
void Hotplug::dead_begin(const Event& event) {
  preparing_ = false;
  burying_ = true;
  preparer_ = event.task;
  allocated_ = 0;
}

void Hotplug::dead_end(const Event& event) {
  if (!burying_) return;
  burying_ = false;
  const int32_t owned = view().patch(series::Patch::p05) ? 2 : 3;
  if (-allocated_ >= owned) return;
  violate("S-I39", event, "smpcfd_dead_cpu({}) leaves {} of {} objects of the CPU allocated",
          event.a, owned + allocated_, owned);
}

}  // namespace sd::oracle
