#include "core/oracle/stuck.h"

#include <algorithm>

#include "core/smp/trace.h"

namespace sd::oracle {

namespace tp = smp::tp;

std::vector<EventId> Stuck::interests() const {
  return {tp::csd_stuck, tp::csd_unstuck};
}

void Stuck::on_event(const Event& event) {
  const auto known = std::find_if(outstanding_.begin(), outstanding_.end(),
                                  [&](const Complaint& c) { return c.number == event.a; });
  const bool same =
      known != outstanding_.end() && known->task == event.task && known->csd == event.obj;
  if (event.id == tp::csd_stuck) {
    if (known == outstanding_.end()) {
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
