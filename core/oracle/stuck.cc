#include "core/oracle/stuck.h"

#include <algorithm>

#include "core/machine/events.h"
#include "core/machine/machine.h"
#include "core/smp/trace.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;

std::vector<EventId> Stuck::interests() const {
  return {tp::csd_stuck, tp::csd_unstuck, mev::sched_switch};
}

void Stuck::on_begin() {
  outstanding_.clear();
  last_absence_.resize(machine::kMaxTasks);
  ++execution_;
}

Stuck::Absence& Stuck::absence_of(uint64_t task) {
  Absence& absence = last_absence_[task];
  if (absence.execution != execution_) absence = Absence{execution_, 0, 0};
  return absence;
}

// The first complaint of a wait; b says how long it has waited.
void Stuck::check_time_on_cpu(const Event& event) {
  const Absence& absence = absence_of(event.task);
  const uint64_t began_ns = event.time_ns > event.b ? event.time_ns - event.b : 0;
  const uint64_t from_ns = std::max(absence.from_ns, began_ns);
  const uint64_t off_ns = absence.to_ns > from_ns ? absence.to_ns - from_ns : 0;
  const uint64_t limit_ns = view().csd_lock_timeout_ns();
  if (off_ns == 0 || event.b - std::min(off_ns, event.b) > limit_ns) return;
  violate(
      "csd-false-alarm", event,
      "{} calls {} stuck after {} ns, but was off the CPU for {} ns of them; the limit is {} ns",
      task(event.task), address(event.obj), event.b, off_ns, limit_ns);
}

void Stuck::on_event(const Event& event) {
  if (event.id == mev::sched_switch) {
    absence_of(event.a).from_ns = event.time_ns;
    absence_of(event.b).to_ns = event.time_ns;
    return;
  }
  const auto known = std::find_if(outstanding_.begin(), outstanding_.end(),
                                  [&](const Complaint& c) { return c.number == event.a; });
  const bool same =
      known != outstanding_.end() && known->task == event.task && known->csd == event.obj;
  if (event.id == tp::csd_stuck) {
    if (known == outstanding_.end()) {
      check_time_on_cpu(event);
      outstanding_.push_back({event.a, event.task, event.obj});
    } else if (!same) {
      violate("S-I60", event, "{} complains under number {}, which a complaint of {} has",
              task(event.task), event.a, task(known->task));
    }
    return;
  }
  if (!same) {
    violate("S-I60", event, "{} says that its complaint {} got unstuck, which it has not made",
            task(event.task), event.a);
  }
  outstanding_.erase(known);
}

void Stuck::on_end() {
  if (view().csd_lock_stuck() == !outstanding_.empty()) return;
  Event event;
  event.function = "csd_lock_is_stuck";
  violate("S-I60", event, "csd_lock_is_stuck() is {} at the end, with {} complaints outstanding",
          view().csd_lock_stuck(), outstanding_.size());
}

}  // namespace sd::oracle
