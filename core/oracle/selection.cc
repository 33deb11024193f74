#include "core/oracle/selection.h"

#include <cerrno>

#include "core/machine/events.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;
using smp::call_kind;

std::vector<EventId> Selection::interests() const {
  return {tp::call_begin,   tp::call_pinned,  tp::call_unpinned, tp::call_end,
          tp::any_selected, tp::cond_result,  tp::csd_locked,    tp::csd_queue_cpu,
          mev::cpu_online,  mev::cpu_offline, mev::cpu_active,   engine::event::rmw};
}

void Selection::on_begin() {
  cpus_ = view().nr_cpus();
  calls_.clear();
  watched_.clear();
  instant_ = 1;
  online_.reset(cpus_);
  for (unsigned cpu = 0; cpu < cpus_; ++cpu) {
    if (view().cpu_online(cpu)) online_.start_with(cpu);
  }
}

void Selection::on_event(const Event& event) {
  if (event.id == engine::event::rmw) {
    if (!watched_.empty()) mask_operation(event);
    return;
  }
  ++instant_;
  switch (event.id) {
    case mev::cpu_online:
      return online_.set(static_cast<unsigned>(event.a), true, instant_);
    case mev::cpu_offline:
      return online_.set(static_cast<unsigned>(event.a), false, instant_);
    case mev::cpu_active:
      return mask_operation(event);
    case tp::call_begin:
      return call_begin(event);
    case tp::call_end:
      return call_end(event);
    default:
      break;
  }
  Call* call = calls_.top(event.task);
  if (!call || call->kind == call_kind::smp_call_on_cpu) return;
  const auto type = static_cast<unsigned>(event.b) & smp::CSD_FLAG_TYPE_MASK;
  switch (event.id) {
    case tp::call_pinned:
      return pinned(event, *call);
    case tp::call_unpinned:
      return unpinned(*call);
    case tp::any_selected:
      call->target = static_cast<uint32_t>(event.a);
      break;
    case tp::cond_result:
      return cond_result(event, *call);
    case tp::csd_locked:
      if (event.a < cpus_) call->locked.add(static_cast<unsigned>(event.a));
      break;
    case tp::csd_queue_cpu:
      if (event.a >= cpus_ || (type != smp::CSD_TYPE_SYNC && type != smp::CSD_TYPE_ASYNC)) break;
      call->queued.add(static_cast<unsigned>(event.a));
      break;
    default:
      break;
  }
}

void Selection::call_begin(const Event& event) {
  const smp::call_args& args = args_of(event);
  Call& call = calls_.push(event.task);
  begin_call(call, event, view());
  call.mask = args.kind == call_kind::any || args.kind == call_kind::many ? args.mask : nullptr;
}

void Selection::pinned(const Event& event, Call& call) {
  if (call.pinned) return;
  call.pinned = true;
  call.has_section = false;
  call.cpu = static_cast<uint32_t>(event.a);
  call.since = instant_;
  if (!call.mask || is_own_history(call)) return;
  if (!view().readable(call.mask, CpuSet::words(cpus_) * size_t{8})) return;
  for (unsigned w = 0; w < CpuSet::words(cpus_); ++w) {
    const unsigned in_word = cpus_ - w * 64;
    const uint64_t valid = in_word >= 64 ? ~0ull : (1ull << in_word) - 1;
    call.in_mask_always.bits[w] = call.in_mask_ever.bits[w] = call.mask->bits[w] & valid;
  }
  watched_.push_back(calls_.index_of(call));
}

// An atomic operation on a word of memory, or a change of the active mask, that may be in a watched
// mask.
void Selection::mask_operation(const Event& event) {
  const bool active = event.id == mev::cpu_active;
  for (const uint32_t index : watched_) {
    Call& call = calls_.at(index);
    if (active) {
      if (call.mask != view().active_mask()) continue;
      const auto cpu = static_cast<unsigned>(event.a);
      event.b ? call.in_mask_ever.add(cpu) : call.in_mask_always.remove(cpu);
      continue;
    }
    const uintptr_t offset =
        reinterpret_cast<uintptr_t>(event.obj) - reinterpret_cast<uintptr_t>(call.mask);
    if (offset >= CpuSet::words(cpus_) * size_t{8}) continue;
    const auto w = static_cast<unsigned>(offset / 8);
    call.in_mask_always.bits[w] &= event.b;
    call.in_mask_ever.bits[w] |= event.b;
  }
}

void Selection::unwatch(const Call& call) {
  const uint32_t index = calls_.index_of(call);
  for (uint32_t& slot : watched_) {
    if (slot != index) continue;
    slot = watched_.back();
    watched_.pop_back();
    return;
  }
}

void Selection::unpinned(Call& call) {
  if (!call.pinned) return;
  call.pinned = false;
  call.has_section = true;
  switch (call.kind) {
    case call_kind::single:
    case call_kind::single_async:
      if (call.target < cpus_ && online_.throughout(call.target, call.since))
        call.always.add(call.target);
      return;
    case call_kind::any:
    case call_kind::many:
      break;
    case call_kind::smp_call_on_cpu:
      return;
  }
  if (!call.mask) {
    call.has_section = false;
    return;
  }
  call.always = online_.throughout(call.since);
  call.ever = online_.sometime(call.since);
  if (is_own_history(call)) {
    call.in_mask_always = call.always;
    call.in_mask_ever = call.ever;
    return;
  }
  unwatch(call);
  call.always = call.always & call.in_mask_always;
  call.ever = call.ever & call.in_mask_ever;
}

void Selection::cond_result(const Event& event, Call& call) {
  const auto cpu = static_cast<unsigned>(event.a);
  if (cpu >= cpus_) return;
  if (call.judged) {
    const bool own = cpu == call.cpu;
    if (own ? call.own_asked : call.passed.has(cpu) || call.failed.has(cpu)) {
      violate("S-I11", event, "{} asks its condition for CPU {} a second time", who(call), cpu);
    }
    if (event.cpu != call.cpu || view().preempt_count() == 0) {
      violate("S-I11", event, "{} asks its condition for CPU {} on CPU {} with preempt_count {}",
              who(call), cpu, event.cpu, view().preempt_count());
    }
    if (!own && call.locked.has(cpu)) {
      violate("S-I11", event, "{} asks its condition for CPU {} with the csd for that CPU locked",
              who(call), cpu);
    }
    if (own) call.own_asked = true;
  }
  event.b ? call.passed.add(cpu) : call.failed.add(cpu);
}

void Selection::call_end(const Event& event) {
  Call* call = calls_.top(event.task);
  if (!call) return;
  if (call->pinned && call->mask && !is_own_history(*call)) unwatch(*call);
  if (call->judged && call->has_section) {
    const int result = static_cast<int>(static_cast<uint32_t>(event.a));
    switch (call->kind) {
      case call_kind::single:
      case call_kind::single_async:
        judge_one(event, *call, result);
        break;
      case call_kind::any:
        judge_any(event, *call, result);
        break;
      case call_kind::many:
        judge_many(event, *call);
        break;
      case call_kind::smp_call_on_cpu:
        break;
    }
  }
  calls_.pop(event.task);
  calls_.release(*call);
}

void Selection::judge_one(const Event& event, const Call& call, int result) {
  if (result != -ENXIO || call.target >= cpus_) return;
  if (call.target == call.cpu) {
    violate("S-I3", event, "{} returned -ENXIO for the very CPU it runs on", who(call));
  }
  if (call.always.has(call.target)) {
    violate("S-I3", event, "{} returned -ENXIO although CPU {} was online all the time", who(call),
            call.target);
  }
}

void Selection::judge_any(const Event& event, const Call& call, int result) {
  const bool own = call.in_mask_always.has(call.cpu);
  if (result == -ENXIO) {
    if (!own && call.always.empty()) return;
    violate("S-I7", event,
            "{} returned -ENXIO although CPU {} was in the mask and online all the time", who(call),
            own ? call.cpu : call.always.first());
  }
  if (result != 0) return;
  if (call.target >= cpus_ || !call.in_mask_ever.has(call.target)) {
    violate("S-I7", event, "{} chose CPU {}, which was never in the mask", who(call), call.target);
  }
  if (own && call.target != call.cpu) {
    violate("S-I7", event, "{} chose CPU {} although its own CPU was in the mask", who(call),
            call.target);
  }
}

void Selection::judge_many(const Event& event, const Call& call) {
  CpuSet missing = call.always - call.queued - call.failed;
  missing.remove(call.cpu);
  if (!missing.empty()) {
    violate("S-I5", event,
            "{} did not queue to CPU {}, which was in the mask and online all the time{}",
            who(call), missing.first(), call.has_cond ? ", and did not fail the condition" : "");
  }
  if (call.queued.has(call.cpu)) {
    violate("S-I5", event, "{} queued to the CPU it runs on", who(call));
  }
  const CpuSet surplus = call.queued - call.ever;
  if (!surplus.empty()) {
    violate("S-I5", event, "{} queued to CPU {}, which was never {} during the call", who(call),
            surplus.first(), call.in_mask_ever.has(surplus.first()) ? "online" : "in the mask");
  }
  if (!call.has_cond) return;
  const CpuSet unasked = call.queued - call.passed;
  if (!unasked.empty()) {
    violate("S-I5", event, "{} queued to CPU {}, which did not pass the condition", who(call),
            unasked.first());
  }
}

}  // namespace sd::oracle
