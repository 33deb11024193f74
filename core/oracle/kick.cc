#include "core/oracle/kick.h"

#include "core/machine/events.h"
#include "core/machine/sd.h"
#include "core/smp/trace.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;
namespace eev = engine::event;

std::vector<EventId> Kick::interests() const {
  return {tp::kick_begin,  tp::kick_end,     tp::func_exit, tp::call_pinned,
          mev::cpu_online, mev::cpu_offline, eev::fence};
}

void Kick::on_begin() {
  going_.clear();
  online_.reset(view().nr_cpus());
  for (unsigned cpu = 0; cpu < view().nr_cpus(); ++cpu) {
    if (view().cpu_online(cpu)) online_.start_with(cpu);
  }
  instant_ = 1;
}

void Kick::on_event(const Event& event) {
  switch (event.id) {
    case mev::cpu_online:
    case mev::cpu_offline:
      online_.set(static_cast<unsigned>(event.a), event.id == mev::cpu_online, ++instant_);
      return;
    case tp::kick_begin:
      return begin(event);
    case tp::kick_end:
      return end(event);
    case tp::func_exit:
      for (Going& going : going_) {
        if (going.fenced && event.a == going.func) going.passed.add(event.cpu);
      }
      return;
    default:
      break;
  }
  if (going_.empty()) return;
  Going* going = of_task(event.task);
  if (!going || event.irq_depth > 0) return;
  if (event.id == tp::call_pinned) {
    going->cpu = event.cpu;
  } else if (event.a == sd_mb && !going->fenced) {
    going->fenced = true;
    going->since = ++instant_;
  }
}

Kick::Going* Kick::of_task(uint16_t task) {
  for (Going& going : going_) {
    if (going.task == task) return &going;
  }
  return nullptr;
}

void Kick::begin(const Event& event) {
  Going going;
  going.func = event.a;
  going.task = event.task;
  going.cpu = event.cpu;
  going_.push_back(going);
}

void Kick::end(const Event& event) {
  const Going* going = of_task(event.task);
  if (!going) return;
  if (!going->fenced) {
    violate("S-I9", event, "kick_all_cpus_sync() of {} had no full barrier before its calls",
            task(event.task));
  }
  CpuSet missing = online_.throughout(going->since) - going->passed;
  missing.remove(going->cpu);
  if (!missing.empty()) {
    violate("S-I9", event,
            "kick_all_cpus_sync() of {} returns, and CPU {} has not been through an interrupt",
            task(event.task), missing.first());
  }
  going_.erase(going_.begin() + (going - going_.data()));
}

}  // namespace sd::oracle
