#include "core/oracle/masks.h"

#include "core/machine/config.h"
#include "core/machine/events.h"
#include "core/oracle/call_record.h"

namespace sd::oracle {

namespace tp = smp::tp;
namespace mev = machine::event;
namespace eev = engine::event;

std::vector<EventId> Masks::interests() const {
  return {tp::call_begin,     tp::call_end,       tp::call_unpinned,  tp::snapshot,
          tp::csd_queue_cpu,  tp::csd_lock_begin, tp::csd_wait_begin, tp::csd_wait_end,
          tp::smpcfd_prepare, tp::smpcfd_dead,    mev::task_end,      eev::free};
}

void Masks::on_begin() {
  calls_.clear();
  masks_.clear();
  mask_of_.resize(machine::kMaxTasks);
  for (uint32_t i = 0; i < tasks_; ++i) mask_of_[i] = nullptr;
  tasks_ = 0;
  cpus_.assign(view().nr_cpus(), Cpu{});
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    cpus_[cpu].prepared = view().cpu_online(cpu);
    cpus_[cpu].csds = view().cpu_csds(cpu);
  }
}

void Masks::on_event(const Event& event) {
  switch (event.id) {
    case tp::call_begin:
      calls_.push(event.task).wait = args_of(event).wait;
      return;
    case tp::smpcfd_prepare:
    case tp::smpcfd_dead:
      return prepared(event);
    case mev::task_end:
      return task_ends(event);
    case eev::free:
      return freed(event);
    case tp::csd_lock_begin:
    case tp::csd_wait_begin:
      check_csd(event);
      break;
    default:
      break;
  }
  Call* call = calls_.top(event.task);
  if (!call) return;
  switch (event.id) {
    case tp::snapshot:
      return snapshot(event, *call);
    case tp::csd_queue_cpu:
      if (event.b == smp::CSD_TYPE_SYNC || event.b == smp::CSD_TYPE_ASYNC) ++call->queued;
      return;
    case tp::csd_wait_begin:
      return check_mask(event, *call);
    case tp::csd_wait_end:
      check_mask(event, *call);
      if (++call->waits == call->queued) release(*call);  // the last read is right behind this
      return;
    case tp::call_unpinned:
      if (!call->wait || call->waits == call->queued) release(*call);
      return;
    case tp::call_end:
      release(*call);
      calls_.pop(event.task);
      calls_.release(*call);
      return;
    default:
      return;
  }
}

// The first write.
void Masks::snapshot(const Event& event, Call& call) {
  release(call);
  call.mask = event.obj;
  call.cpu = event.cpu;
  call.of_cpu = event.obj == view().cpu_mask(event.cpu);
  check_mask(event, call);
  Mask& mask = masks_.get(event.obj);
  claim(event, call, mask);
  mask.used = true;
  mask.user = event.task;
  if (call.of_cpu) return;
  mask.owned = true;
  mask.owner = event.task;
  mask_of_[event.task] = event.obj;
  if (event.task >= tasks_) tasks_ = event.task + 1u;
}

void Masks::claim(const Event& event, const Call& call, Mask& mask) const {
  if (call.of_cpu) {
    if (!mask.used) return;
    violate("S-I45", event, "{} writes to the mask of CPU {}, which a call of {} is still using",
            task(event.task), event.cpu, task(mask.user));
  }
  if (mask.used) {
    violate("S-I44", event, "{} writes to a task's mask, which a call of {} is still using",
            task(event.task), task(mask.user));
  }
  if (mask.owned && mask.owner != event.task) {
    violate("S-I44", event, "{} uses the mask of {}", task(event.task), task(mask.owner));
  }
}

void Masks::release(Call& call) {
  if (!call.mask) return;
  if (Mask* mask = masks_.find(call.mask)) mask->used = false;
  call.mask = nullptr;
}

// The mask of the call is about to be read, or written.
void Masks::check_mask(const Event& event, const Call& call) const {
  if (!call.mask) return;
  if (call.of_cpu && !cpus_[call.cpu].prepared) {
    violate("S-I33", event, "{} uses the mask of CPU {}, which is not prepared for calls",
            task(event.task), call.cpu);
  }
  if (!view().readable(call.mask, sizeof(uint64_t))) {
    violate("S-I18", event, "{} uses a mask that has been freed", task(event.task));
  }
}

void Masks::check_csd(const Event& event) const {
  if (view().readable(event.obj, sizeof(smp::call_single_data_t))) return;
  violate("S-I18", event, "{} on CPU {} waits for {}, which has been freed", task(event.task),
          event.cpu, address(event.obj));
}

void Masks::prepared(const Event& event) {
  Cpu& cpu = cpus_[event.a];
  if (event.id == tp::smpcfd_dead) {
    cpu.prepared = false;
    return;
  }
  if (event.b != 0) return;
  cpu.prepared = true;
  const volatile void* csds = view().cpu_csds(static_cast<unsigned>(event.a));
  if (cpu.csds && csds != cpu.csds && view().patch(series::Patch::p05)) {
    violate("S-I18", event, "the csds of CPU {} are not where they were before it went down",
            event.a);
  }
  cpu.csds = csds;
}

// Whose mask it was comes with its next use.
void Masks::freed(const Event& event) {
  Mask* mask = masks_.find(event.obj);
  if (!mask) return;
  if (mask->owned && mask_of_[mask->owner] == event.obj) {
    violate("S-I44", event, "the mask of {}, which is alive, is freed", task(mask->owner));
  }
  *mask = Mask{};
}

void Masks::task_ends(const Event& event) {
  const volatile void* own = mask_of_[event.task];
  if (!own) return;
  mask_of_[event.task] = nullptr;
  if (Mask* mask = masks_.find(own)) *mask = Mask{};
}

}  // namespace sd::oracle
