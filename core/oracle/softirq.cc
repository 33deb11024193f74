#include "core/oracle/softirq.h"

#include "core/machine/events.h"

namespace sd::oracle {

std::vector<EventId> Softirq::interests() const {
  return {machine::event::idle_halt};
}

void Softirq::on_event(const Event& event) {
  const uint32_t pending = view().softirqs_pending(event.cpu);
  if (!pending || view().irq_pending(event.cpu)) return;
  violate("softirq-lost", event,
          "CPU {} halts with softirqs {:#x} pending, and no interrupt is due", event.cpu, pending);
}

void Softirq::on_end() {
  for (unsigned cpu = 0; cpu < view().nr_cpus(); ++cpu) {
    const uint32_t pending = view().cpu_online(cpu) ? view().softirqs_pending(cpu) : 0;
    if (!pending) continue;
    Event event;
    event.cpu = static_cast<uint16_t>(cpu);
    event.function = "do_idle";
    violate("softirq-lost", event, "CPU {} still has softirqs {:#x} pending at the end", cpu,
            pending);
  }
}

}  // namespace sd::oracle
