#include "core/oracle/completion.h"

#include <fmt/core.h>

#include <cerrno>

#include "core/machine/events.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;
using smp::call_kind;

const char* call_kind_name(call_kind kind) {
  switch (kind) {
    case call_kind::single:
      return "smp_call_function_single";
    case call_kind::single_async:
      return "smp_call_function_single_async";
    case call_kind::any:
      return "smp_call_function_any";
    case call_kind::many:
      return "a call of several CPUs";
    case call_kind::smp_call_on_cpu:
      return "smp_call_on_cpu";
  }
  return "?";
}

const char* Completion::id_of(call_kind kind, bool wait) {
  if (!wait || kind == call_kind::single_async) return "S-I6";
  return kind == call_kind::many ? "S-I4" : "S-I1";
}

const char* Completion::id_at_return(const Call& call) {
  if (call.source_gone) return "S-I35";
  return call.from_offline ? "S-I37" : id_of(call.kind, call.wait);
}

std::vector<EventId> Completion::interests() const {
  return {tp::call_begin,     tp::call_pinned,       tp::call_end,       tp::any_selected,
          tp::cond_result,    tp::run_local_sampled, tp::csd_queue_cpu,  tp::csd_unlink,
          tp::func_entry,     tp::func_exit,         tp::csd_lock_begin, tp::csd_locked,
          tp::csd_wait_begin, tp::csd_wait_end,      tp::csd_unlock,     mev::cpu_offline};
}

void Completion::on_begin() {
  calls_.clear();
  requests_.clear();
  current_.assign(view().nr_cpus(), Current{});
  counts_ = RunCounts{};
  uid_ = 0;
}

void Completion::on_event(const Event& event) {
  switch (event.id) {
    case tp::call_begin:
      return call_begin(event);
    case tp::call_end:
      return call_end(event);
    case tp::csd_queue_cpu:
      return queue(event);
    case tp::csd_unlink:
      return unlink(event);
    case tp::func_entry:
      return event.obj ? func_entry(event) : local_entry(event);
    case tp::func_exit:
      return func_exit(event);
    case tp::csd_unlock:
      return unlock(event);
    case mev::cpu_offline:
      return source_goes(static_cast<unsigned>(event.a));
    default:
      break;
  }
  Call* call = calls_.top(event.task);
  if (!call) return;
  switch (event.id) {
    case tp::call_pinned:
      call->cpu = static_cast<uint32_t>(event.a);
      call->pinned = true;
      break;
    case tp::any_selected:
      call->target = static_cast<uint32_t>(event.a);
      break;
    case tp::run_local_sampled:
      call->local_sampled = event.a != 0;
      break;
    case tp::cond_result:
      if (call->pinned && event.a == call->cpu) call->local_cond = event.b != 0;
      break;
    case tp::csd_lock_begin:
    case tp::csd_wait_begin:
      call->waits_for = event.obj;
      call->waits_to_lock = event.id == tp::csd_lock_begin;
      break;
    case tp::csd_wait_end:
      wait_end(event, *call);
      call->waits_for = nullptr;
      break;
    case tp::csd_locked:
      call->waits_for = nullptr;
      break;
    default:
      break;
  }
}

void Completion::call_begin(const Event& event) {
  const smp::call_args& args = args_of(event);
  Call& call = calls_.push(event.task);
  begin_call(call, event, view());
  call.run_local = args.kind == call_kind::many && (args.scf_flags & smp::SCF_RUN_LOCAL) != 0;
  call.from_offline = args.kind == call_kind::single && !args.wait && !view().cpu_online(event.cpu);
  call.uid = ++uid_;
  call.func = args.func;
  call.function = event.function;
}

void Completion::call_end(const Event& event) {
  Call* call = calls_.top(event.task);
  if (!call) return;
  const int result = static_cast<int>(static_cast<uint32_t>(event.a));
  if (call->judged) {
    if (call->kind == call_kind::many) {
      judge_several_cpus(event, *call);
    } else if (call->kind != call_kind::smp_call_on_cpu) {
      judge_one_cpu(event, *call, result);
    }
  }
  count_return(*call, call->kind != call_kind::many && result != 0);
  calls_.pop(event.task);
  call->ended = true;
  if (call->outstanding == 0) calls_.release(*call);
}

void Completion::judge_one_cpu(const Event& event, const Call& call, int result) {
  const uint32_t total = call.queued_count + call.local_started;
  if (result != 0) {
    if (call.from_offline) {
      violate("S-I37", event, "{}, made while the CPU is offline, returned {}", who(call), result);
    }
    if (total == 0) return;
    violate(result == -EBUSY ? "S-I10" : "S-I2", event,
            "{} returned {} although its function was {} {} time(s), the last time for CPU {}",
            who(call), result, call.local_started ? "run" : "queued", total, call.target);
  }
  const char* id = id_at_return(call);
  if (total != 1) {
    violate(id, event,
            "{} for CPU {} returned 0, and its function was queued {} and run locally {} "
            "times instead of once",
            who(call), call.target, call.queued_count, call.local_started);
  }
  if (call.wait && call.outstanding + call.local_started - call.local_finished != 0) {
    const bool started = call.local_started || !call.started.empty();
    violate(id, event, "{} for CPU {} returned before its function had {}", who(call), call.target,
            started ? "finished" : "begun");
  }
}

void Completion::judge_several_cpus(const Event& event, const Call& call) {
  const char* id = id_at_return(call);
  if (call.wait && call.outstanding != 0) {
    const CpuSet missing = call.queued - call.finished;
    const unsigned cpu = missing.first();
    violate(
        id, event,
        "{} returned while its function had not {} on CPU {}; {} of {} targets had not finished",
        who(call), call.started.has(cpu) ? "finished" : "begun", cpu, missing.count(),
        call.queued.count());
  }
  const bool local = call.run_local && call.local_sampled && (!call.has_cond || call.local_cond);
  if (call.local_finished != (local ? 1u : 0u)) {
    violate(id, event,
            "{} ran its function {} times on its own CPU instead of {} (RUN_LOCAL {}, CPU "
            "in mask when sampled {}, condition {})",
            who(call), call.local_finished, local ? 1 : 0, call.run_local, call.local_sampled,
            !call.has_cond || call.local_cond);
  }
}

void Completion::queue(const Event& event) {
  Request& request = requests_.get(event.obj);
  request.uid = 0;
  request.phase = Phase::none;
  const auto type = static_cast<unsigned>(event.b) & smp::CSD_FLAG_TYPE_MASK;
  if (type != smp::CSD_TYPE_SYNC && type != smp::CSD_TYPE_ASYNC) return;
  Call* call = calls_.top(event.task);
  const auto target = static_cast<uint32_t>(event.a);
  if (!call || call->kind == call_kind::smp_call_on_cpu || target >= current_.size()) return;
  if (call->kind != call_kind::many && call->judged && call->target != target) {
    violate(id_of(call->kind, call->wait), event, "{} for CPU {} queues its function to CPU {}",
            who(*call), call->target, target);
  }
  request.call = calls_.top_index(event.task);
  request.uid = call->uid;
  request.target = target;
  request.kind = call->kind;
  request.wait = call->wait;
  request.phase = Phase::queued;
  call->queued.add(target);
  ++call->queued_count;
  ++call->outstanding;
}

void Completion::unlink(const Event& event) {
  Current& current = current_[event.cpu];
  current.csd = current.to_unlock = event.obj;
  current.request.uid = 0;
  Request* request = requests_.find(event.obj);
  if (!request) return;
  current.request = *request;
  request->phase = Phase::taken;
}

// The request whose function enters or leaves now, or nullptr.
const Completion::Request* Completion::request_running(const Event& event) {
  const Current& current = current_[event.cpu];
  const Request* request = current.csd == event.obj ? &current.request : requests_.find(event.obj);
  return request && request->uid ? request : nullptr;
}

Completion::Call* Completion::call_of(const Request& request) {
  Call& call = calls_.at(request.call);
  return call.live && call.uid == request.uid ? &call : nullptr;
}

void Completion::func_entry(const Event& event) {
  counts_.count_run(reinterpret_cast<smp::smp_call_func_t>(event.a));
  const Request* request = request_running(event);
  if (!request) {
    ++counts_.unattributed;
    return;
  }
  ++counts_.runs[static_cast<unsigned>(request->kind)];
  const char* id = id_of(request->kind, request->wait);
  Call* call = call_of(*request);
  if (!call) {
    violate(id, event, "CPU {} runs a function of {} again after all runs of that call were done",
            event.cpu, call_kind_name(request->kind));
  }
  if (!call->judged) {
    call->started.add(request->target);
    return;
  }
  if (call->kind == call_kind::many && !call->run_local && event.cpu == call->cpu) {
    violate("S-I8", event, "{} runs its function on the calling CPU", who(*call));
  }
  if (event.cpu != request->target) {
    violate(id, event, "the function of {}, queued to CPU {}, runs on CPU {}", who(*call),
            request->target, event.cpu);
  }
  if (call->started.has(request->target)) {
    violate(id, event, "the function of {} runs a second time on CPU {}", who(*call), event.cpu);
  }
  call->started.add(request->target);
}

void Completion::func_exit(const Event& event) {
  if (!event.obj) {
    if (Call* call = calls_.top(event.task)) ++call->local_finished;
    return;
  }
  const Request* request = request_running(event);
  if (current_[event.cpu].csd == event.obj) current_[event.cpu].csd = nullptr;
  Call* call = request ? call_of(*request) : nullptr;
  if (!call || !call->started.has(request->target) || call->finished.has(request->target)) return;
  call->finished.add(request->target);
  --call->outstanding;
  if (call->ended && call->outstanding == 0) calls_.release(*call);
}

// By the flush, of the entry that it is at.
void Completion::unlock(const Event& event) {
  Current& current = current_[event.cpu];
  if (current.to_unlock != event.obj) return;
  current.to_unlock = nullptr;
  if (current.request.uid == 0) return;
  if (Call* call = call_of(current.request)) call->unlocked.add(current.request.target);
}

// Each csd of a call of several CPUs is for one target, whoever has queued it last.
void Completion::wait_end(const Event& event, const Call& call) {
  const Request* request = requests_.find(event.obj);
  if (!call.judged || !request || request->uid == 0) return;
  if (call.kind != call_kind::many && request->uid != call.uid) return;
  const uint32_t target = request->target;
  if (!call.queued.has(target) || call.unlocked.has(target)) return;
  violate("S-I19", event, "{} has ended its wait for {}, which CPU {} has not unlocked for it",
          who(call), address(event.obj), target);
}

void Completion::source_goes(unsigned cpu) {
  for (uint32_t i = 0; i < calls_.used(); ++i) {
    Call& call = calls_.at(i);
    if (call.live && !call.ended && call.wait && call.pinned && call.cpu == cpu)
      call.source_gone = true;
  }
}

void Completion::local_entry(const Event& event) {
  counts_.count_run(reinterpret_cast<smp::smp_call_func_t>(event.a));
  Call* call = calls_.top(event.task);
  if (!call) {
    ++counts_.unattributed;
    return;
  }
  ++counts_.runs[static_cast<unsigned>(call->kind)];
  ++call->local_started;
  if (!call->judged) return;
  const char* id = id_of(call->kind, call->wait);
  if (call->kind == call_kind::many && !call->run_local) {
    violate("S-I8", event, "{} runs its function on the calling CPU", who(*call));
  }
  const uint32_t wanted = call->kind == call_kind::many ? call->cpu : call->target;
  if (event.cpu != wanted) {
    violate(id, event, "{} runs its function locally on CPU {} instead of on CPU {}", who(*call),
            event.cpu, wanted);
  }
  if (call->local_started > 1) {
    violate(id, event, "{} runs its function a second time on its own CPU", who(*call));
  }
}

void Completion::on_end() {
  for (uint32_t i = 0; i < calls_.used(); ++i) {
    const Call& call = calls_.at(i);
    if (!call.live || !call.ended || !call.judged || call.outstanding == 0) continue;
    Event event;
    event.function = call.function;
    event.task = call.task;
    event.cpu = static_cast<uint16_t>(call.cpu);
    const CpuSet missing = call.queued - call.finished;
    violate(call.from_offline ? "S-I37" : id_of(call.kind, false), event,
            "the execution is over and the function of {} has never {} on CPU {}", who(call),
            call.started.has(missing.first()) ? "finished" : "begun", missing.first());
  }
}

void Completion::count_return(const Call& call, bool refused) {
  const auto kind = static_cast<unsigned>(call.kind);
  ++counts_.calls[kind];
  if (refused) ++counts_.refused[kind];
  if (refused || call.kind == call_kind::smp_call_on_cpu) return;
  const bool many = call.kind == call_kind::many;
  counts_.count_expected(call.kind, call.func, many ? call.queued.count() + call.local_started : 1);
}

// ---- hangs

std::string Completion::describe_waiting() const {
  std::string text;
  for (uint32_t i = 0; i < calls_.used(); ++i) {
    const Call& call = calls_.at(i);
    if (!call.live) continue;
    const CpuSet missing = call.queued - call.finished;
    if (call.ended && missing.empty()) continue;
    text += text_of(who(call));
    if (call.waits_for) {
      text += call.waits_to_lock ? " waits to lock " : " waits for completion of ";
      text += view().describe(call.waits_for);
    } else {
      text += call.ended ? " has returned" : " is in progress";
    }
    for (unsigned cpu = missing.first(), n = 0; cpu < current_.size() && n < 8; ++cpu) {
      if (!missing.has(cpu)) continue;
      text += fmt::format("{} CPU {} ({})", n++ ? "," : "; has not finished on", cpu,
                          call.started.has(cpu) ? "running" : "queued");
    }
    text += '\n';
  }
  return text;
}

}  // namespace sd::oracle
