#include "core/oracle/csd.h"

#include <cerrno>

namespace sd::oracle {

namespace tp = smp::tp;
using smp::call_kind;

namespace {

bool is_csd_type(uint64_t type) {
  return type == smp::CSD_TYPE_SYNC || type == smp::CSD_TYPE_ASYNC;
}
const char* type_name(unsigned type) {
  return type == smp::CSD_TYPE_SYNC ? "SYNC" : "ASYNC";
}

const smp::call_single_data_t* csd_at(const volatile void* p) {
  return static_cast<const smp::call_single_data_t*>(const_cast<const void*>(p));
}
// The part that a csd shares with a wake-up entry, which is aligned less.
const smp::__call_single_node* node_at(const volatile void* p) {
  return static_cast<const smp::__call_single_node*>(const_cast<const void*>(p));
}

}  // namespace

std::vector<EventId> Csd::interests() const {
  return {tp::call_begin,    tp::call_end,   tp::csd_lock_begin, tp::csd_locked,
          tp::csd_queue_cpu, tp::csd_unlock, tp::csd_unlink,     tp::func_entry,
          tp::func_exit,     tp::flush_end,  engine::event::rmw};
}

void Csd::on_begin() {
  csds_.clear();
  calls_.clear();
  flush_.assign(view().nr_cpus(), Flush{});
  taken_.assign(view().nr_cpus(), 0);
  agents_ = 0;
  heads_.reset(view());
}

void Csd::on_event(const Event& event) {
  switch (event.id) {
    case engine::event::rmw:
      return queue_operation(event);
    case tp::csd_lock_begin:
      return lock_begin(event);
    case tp::csd_locked:
      return locked(event);
    case tp::csd_queue_cpu:
      return announce(event);
    case tp::csd_unlink:
      return unlink(event);
    case tp::csd_unlock:
      return unlock(event);
    case tp::func_entry:
      if (event.obj) func_entry(event);
      return;
    case tp::func_exit:
      if (event.obj && flush_[event.cpu].csd == event.obj) flush_[event.cpu].left = true;
      return;
    case tp::flush_end:
      return flush_end(event);
    case tp::call_begin:
      return call_begin(event);
    case tp::call_end:
      return call_end(event);
    default:
      return;
  }
}

Csd::Agent Csd::agent_of(const Event& event) {
  const Call* call = calls_.top(event.task);
  return call ? call->agent : 0x80000000u + event.task;
}

void Csd::lock_begin(const Event& event) {
  State& state = csds_.get(event.obj);
  if (state.locker != kNobody) {
    violate("S-I15", event, "{} on CPU {} starts to lock {} while {} is still locking it",
            task(event.task), event.cpu, address(event.obj), task(state.locker_task));
  }
  state.locker = agent_of(event);
  state.locker_task = event.task;
}

void Csd::locked(const Event& event) {
  State& state = csds_.get(event.obj);
  const Agent agent = agent_of(event);
  if (state.locker == agent) state.locker = kNobody;
  if (state.held) {
    violate("S-I14", event,
            "{} on CPU {} took the lock of {} for CPU {}, which {} owns and has {} for CPU {}",
            task(event.task), event.cpu, address(event.obj), event.a, task(state.owner_task),
            state.place == Place::nowhere ? "not queued yet" : "queued", state.target);
  }
  state.held = true;
  state.owner = agent;
  state.owner_task = event.task;
  state.target = static_cast<uint16_t>(event.a);
  if (Call* call = calls_.top(event.task)) call->csd = event.obj;
  check_flags(event);
}

// LOCK has just been taken, or is about to be dropped.
void Csd::check_flags(const Event& event) const {
  if (!view().readable(event.obj, sizeof(smp::call_single_data_t))) return;
  const unsigned flags = node_at(event.obj)->u_flags;
  if ((flags & ~smp::CSD_TYPE_SYNC) == smp::CSD_FLAG_LOCK) return;
  violate("S-I20", event, "the flags of {} are {:#x}, which is neither LOCK nor LOCK and SYNC",
          address(event.obj), flags);
}

// The owner is about to add the csd to the target's queue.
void Csd::announce(const Event& event) {
  State& state = csds_.get(event.obj);
  if (!is_csd_type(event.b)) {
    state = State{};  // another kind of entry now
    return;
  }
  const auto target = static_cast<uint16_t>(event.a);
  if (state.place != Place::nowhere) {
    violate("S-I12", event, "{} on CPU {} queues {} to CPU {} while it is on the list of CPU {}",
            task(event.task), event.cpu, address(event.obj), target, state.target);
  }
  if (!state.held) {
    violate("S-I14", event, "{} on CPU {} queues {} to CPU {} without having locked it",
            task(event.task), event.cpu, address(event.obj), target);
  }
  if (state.owner != agent_of(event)) {
    violate("S-I14", event, "{} on CPU {} queues {} to CPU {}, but a call of {} owns it",
            task(event.task), event.cpu, address(event.obj), target, task(state.owner_task));
  }
  state.place = Place::announced;
  state.target = target;
  state.type = static_cast<uint8_t>(event.b);
  state.func = csd_at(event.obj)->func;
  state.info = csd_at(event.obj)->info;
}

void Csd::queue_operation(const Event& event) {
  const int cpu = heads_.cpu_of(event.obj);
  if (cpu < 0) return;
  uint64_t& taken = taken_[static_cast<unsigned>(cpu)];
  if (event.b == 0) {
    ++taken;
    return;
  }
  State* state = csds_.find(reinterpret_cast<const volatile void*>(event.b));
  if (!state || state->place != Place::announced) return;
  state->place = Place::listed;
  state->batch = taken;
}

// The flush takes the csd off its batch.
void Csd::unlink(const Event& event) {
  const volatile void* wake_up = flush_[event.cpu].wake_up;
  finish(event);
  flush_[event.cpu].wake_up = event.b == smp::CSD_TYPE_TTWU ? event.obj : wake_up;
  if (!is_csd_type(event.b)) return;
  State* state = csds_.find(event.obj);
  if (!state) return;
  if (state->place != Place::listed) {
    violate("S-I17", event,
            "the flush of CPU {} came to {}, which is {}: it went on from an entry that it was "
            "done with",
            event.cpu, address(event.obj),
            state->place == Place::unlinked ? "being run already" : "not in its batch");
  }
  if (state->target != event.cpu || state->batch >= taken_[event.cpu]) {
    violate("S-I17", event,
            "the flush of CPU {} came to {}, which is on the queue of CPU {}: it went on from an "
            "entry that it was done with",
            event.cpu, address(event.obj), state->target);
  }
  if (view().readable(event.obj, sizeof(smp::call_single_data_t))) check_content(event, *state);
  state->place = Place::unlinked;
  Flush& flush = flush_[event.cpu];
  flush.csd = event.obj;
  flush.type = state->type;
  flush.func = state->func;
  flush.info = state->info;
}

// Nobody may have written to the csd since it was queued.
void Csd::check_content(const Event& event, const State& state) {
  const smp::call_single_data_t* csd = csd_at(event.obj);
  const unsigned type = csd->node.u_flags & smp::CSD_FLAG_TYPE_MASK;
  if (csd->func != state.func || csd->info != state.info || type != state.type) {
    violate("S-I14", event, "the {} of {} was changed after {} had queued it to CPU {}",
            type != state.type        ? "type"
            : csd->func != state.func ? "func"
                                      : "info",
            address(event.obj), task(state.owner_task), state.target);
  }
  if (event.b != state.type) {
    violate("S-I16", event, "CPU {} takes {} for {}, but it was queued as {}", event.cpu,
            address(event.obj), type_name(static_cast<unsigned>(event.b)), type_name(state.type));
  }
}

void Csd::unlock(const Event& event) {
  if (event.a == 0) {
    violate("S-I13", event, "{} on CPU {} unlocks {}, which is not locked", task(event.task),
            event.cpu, address(event.obj));
  }
  check_flags(event);
  State& state = csds_.get(event.obj);
  switch (state.place) {
    case Place::announced:
    case Place::listed:
      check_unlock_on_list(event, state);
      break;
    case Place::unlinked:
      check_unlock_in_flush(event, state);
      break;
    case Place::nowhere:
      if (state.held && state.owner != agent_of(event)) {
        violate("S-I14", event, "{} on CPU {} unlocks {}, but a call of {} owns it",
                task(event.task), event.cpu, address(event.obj), task(state.owner_task));
      }
      break;
  }
  state.held = false;
  state.owner = kNobody;
  state.place = Place::nowhere;
}

// Whatever it is, it is wrong.
void Csd::check_unlock_on_list(const Event& event, const State& state) {
  const Flush& flush = flush_[event.cpu];
  if (flush.csd == event.obj && flush.entered) {
    violate("S-I16", event,
            "CPU {} unlocks {} after it has run its function, and while it is queued to CPU {} "
            "again",
            event.cpu, address(event.obj), state.target);
  }
  if (state.target == event.cpu && state.batch < taken_[event.cpu]) {
    violate("S-I17", event, "the flush of CPU {} unlocks {} while it is still linked in its batch",
            event.cpu, address(event.obj));
  }
  violate("S-I14", event, "{} on CPU {} unlocks {}, which is on the list of CPU {}",
          task(event.task), event.cpu, address(event.obj), state.target);
}

void Csd::check_unlock_in_flush(const Event& event, const State& state) {
  Flush& flush = flush_[event.cpu];
  if (flush.csd != event.obj) {
    violate("S-I14", event, "{} on CPU {} unlocks {}, which the flush of CPU {} is at",
            task(event.task), event.cpu, address(event.obj), state.target);
  }
  if (state.type == smp::CSD_TYPE_SYNC ? !flush.left : flush.entered) {
    violate("S-I16", event, "CPU {} unlocks the {} csd {} {} its function", event.cpu,
            type_name(state.type), address(event.obj),
            flush.left      ? "after"
            : flush.entered ? "during"
                            : "before");
  }
  flush.unlocked = true;
}

void Csd::func_entry(const Event& event) {
  Flush& flush = flush_[event.cpu];
  if (flush.csd != event.obj || flush.entered) return;
  flush.entered = true;
  if (flush.unlocked != (flush.type == smp::CSD_TYPE_ASYNC)) {
    violate("S-I16", event, "CPU {} enters the function of the {} csd {}, which it has {} unlocked",
            event.cpu, type_name(flush.type), address(event.obj),
            flush.unlocked ? "already" : "not");
  }
  const bool same_info = event.b == reinterpret_cast<uint64_t>(flush.info);
  if (event.a != reinterpret_cast<uint64_t>(flush.func) || !same_info) {
    violate("S-I17", event, "CPU {} runs another {} than {} was queued with: it was read too late",
            event.cpu, same_info ? "function" : "argument", address(event.obj));
  }
}

// The flush is done with the csd that it was at.
void Csd::finish(const Event& event) {
  Flush& flush = flush_[event.cpu];
  if (flush.csd && flush.left && !flush.unlocked) {
    violate("S-I16", event, "CPU {} has run the function of the {} csd {} and did not unlock it",
            event.cpu, type_name(flush.type), address(flush.csd));
  }
  flush = Flush{};
}

void Csd::flush_end(const Event& event) {
  const volatile void* wake_up = flush_[event.cpu].wake_up;
  finish(event);
  if (!wake_up || !view().readable(wake_up, sizeof(smp::__call_single_node))) return;
  const unsigned flags = node_at(wake_up)->u_flags;
  if ((flags & smp::CSD_FLAG_TYPE_MASK) == smp::CSD_TYPE_TTWU) return;
  violate("S-I20", event, "the flags of the wake-up entry {} are {:#x} after its flush",
          address(wake_up), flags);
}

void Csd::call_begin(const Event& event) {
  const auto* args = static_cast<const smp::call_args*>(const_cast<const void*>(event.obj));
  Call& call = calls_.push(event.task);
  call.kind = args->kind;
  call.wait = args->wait;
  call.agent = ++agents_;
}

void Csd::call_end(const Event& event) {
  Call* call = calls_.top(event.task);
  if (!call) return;
  const int result = static_cast<int>(static_cast<uint32_t>(event.a));
  const bool async = call->kind == call_kind::single_async && result == -ENXIO;
  const bool stack =
      call->wait && (call->kind == call_kind::single || call->kind == call_kind::any);
  const State* state = call->csd && (async || stack) ? csds_.find(call->csd) : nullptr;
  if (state && state->owner == call->agent) {
    violate(async ? "S-I10" : "S-I21", event, "{} of {} returned {} with its csd {} still {}",
            async ? "single_async" : "a waited call", task(event.task), result, address(call->csd),
            state->place == Place::nowhere ? "locked" : "queued");
  }
  calls_.pop(event.task);
  calls_.release(*call);
}

}  // namespace sd::oracle
