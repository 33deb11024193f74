#include "core/oracle/context.h"

#include "core/machine/events.h"
#include "core/oracle/call_record.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;
using series::Patch;
using smp::call_kind;

std::vector<EventId> Context::interests() const {
  return {tp::call_begin,     tp::call_end,      tp::call_pinned,   tp::call_unpinned,
          tp::flush_begin,    tp::flush_end,     tp::func_entry,    tp::func_exit,
          tp::irq_work_entry, tp::irq_work_exit, tp::csd_queue_cpu, mev::sched_switch,
          tp::snapshot,       tp::csd_wait_begin};
}

void Context::on_begin() {
  flushing_.assign(view().nr_cpus(), Flush{});
  calls_.clear();
}

void Context::on_event(const Event& event) {
  switch (event.id) {
    case tp::flush_begin:
      return flush_begin(event);
    case tp::flush_end:
      flushing_[event.cpu] = Flush{};
      return;
    case tp::func_entry:
      if (!event.obj) break;
      return callback(event, "enters");
    case tp::func_exit:
      if (event.obj) callback(event, "leaves");
      return;
    case tp::irq_work_entry:
    case tp::irq_work_exit:
      if (flushing_[event.cpu].task != kNobody)
        callback(event, event.id == tp::irq_work_entry ? "enters" : "leaves");
      return;
    case mev::sched_switch:
      return switched(event);
    case tp::call_begin:
      return call_begin(event);
    case tp::call_end:
      return call_end(event);
    default:
      break;
  }
  Call* call = calls_.top(event.task);
  if (!call) return;
  switch (event.id) {
    case tp::call_pinned:
      call->pinned = call->had_section = true;
      call->switched = false;
      return;
    case tp::call_unpinned:
      call->pinned = false;
      return;
    case tp::snapshot:
      if (call->needs_mask && event.obj == view().cpu_mask(event.cpu)) call->preemptible = false;
      return;
    case tp::csd_wait_begin:
      return wait_begin(event, *call);
    case tp::csd_queue_cpu:
      if (event.b != smp::CSD_TYPE_SYNC && event.b != smp::CSD_TYPE_ASYNC) return;
      break;
    default:  // local execution
      break;
  }
  if (!call->had_section || !call->switched) return;
  violate("S-I41", event,
          "{} {} CPU {} although it was switched out after the section with preemption off in "
          "which it chose its targets",
          task(event.task), event.id == tp::csd_queue_cpu ? "queues to" : "runs its function on",
          event.id == tp::csd_queue_cpu ? event.a : event.cpu);
}

void Context::flush_begin(const Event& event) {
  if (flushing_[event.cpu].task != kNobody) {
    violate("S-I27", event, "a flush of CPU {} starts inside another one, of {}", event.cpu,
            task(flushing_[event.cpu].task));
  }
  if (!view().irqs_disabled()) {
    violate("S-I27", event, "a flush of CPU {} starts with interrupts enabled", event.cpu);
  }
  flushing_[event.cpu] = {event.task, event.function};
}

void Context::callback(const Event& event, const char* what) {
  if (flushing_[event.cpu].task != event.task) {
    violate("S-I27", event,
            "{} on CPU {} {} a callback that was queued, outside of a flush of that CPU",
            task(event.task), event.cpu, what);
  }
  if (!view().irqs_disabled()) {
    violate("S-I27", event, "the flush of CPU {} {} a callback with interrupts enabled", event.cpu,
            what);
  }
}

// A switch has no function of its own: a violation is named by what was switched out.
void Context::switched(const Event& event) {
  Event where = event;
  if (const Flush& flush = flushing_[event.cpu]; flush.task != kNobody) {
    where.function = flush.function;
    violate("S-I27", where, "CPU {} switches tasks inside the flush of {}", event.cpu,
            task(flush.task));
  }
  Call* call = calls_.top(static_cast<uint16_t>(event.a));
  if (!call) return;
  if (call->pinned) {
    where.function = call->function;
    violate("S-I41", where,
            "{} is switched out on CPU {} between the choice of its targets and their IPIs",
            task(static_cast<uint32_t>(event.a)), event.cpu);
  }
  call->switched = true;
}

void Context::call_begin(const Event& event) {
  const smp::call_args& args = args_of(event);
  judge_context(event, args);
  Call& call = calls_.push(event.task);
  call.depth = view().preempt_count();
  call.function = event.function;
  call.preemptible = waits_preemptibly(args);
  call.needs_mask =
      args.kind == call_kind::many && view().patch(Patch::p04) && !view().patch(Patch::p06_merged);
}

void Context::judge_context(const Event& event, const smp::call_args& args) {
  if (args.kind == call_kind::single_async) return;
  if (!view().in_task()) {
    violate("S-I43", event, "{} is called on CPU {} outside of task context",
            call_kind_name(args.kind), event.cpu);
  }
  if (view().irqs_disabled() && view().cpu_online(event.cpu)) {
    violate("S-I43", event, "{} is called on CPU {}, which is online, with interrupts off",
            call_kind_name(args.kind), event.cpu);
  }
}

bool Context::waits_preemptibly(const smp::call_args& args) const {
  const View& kernel = view();
  switch (args.kind) {
    case call_kind::single:
      return kernel.patch(Patch::p02);
    case call_kind::any:
      return kernel.patch(Patch::p02) && kernel.patch(Patch::p03);
    case call_kind::many:
      if (!kernel.patch(Patch::p06)) return false;
      if (args.scf_flags & smp::SCF_RUN_LOCAL) return kernel.patch(Patch::p08);
      return args.mask != kernel.online_mask() || kernel.patch(Patch::p07);
    default:
      return false;
  }
}

void Context::wait_begin(const Event& event, const Call& call) {
  const unsigned depth = view().preempt_count();
  if (!call.preemptible || depth == call.depth) return;
  violate("S-I42", event,
          "{} on CPU {} waits with preempt_count {}, and was called with {}: it is not preemptible",
          task(event.task), event.cpu, depth, call.depth);
}

void Context::call_end(const Event& event) {
  Call* call = calls_.top(event.task);
  if (!call) return;
  const unsigned depth = view().preempt_count();
  if (depth != call->depth) {
    violate("S-I40", event, "{} on CPU {} returns with preempt_count {}, and was called with {}",
            task(event.task), event.cpu, depth, call->depth);
  }
  calls_.pop(event.task);
  calls_.release(*call);
}

}  // namespace sd::oracle
