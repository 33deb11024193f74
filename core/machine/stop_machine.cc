// Stopper threads: the highest class of task on each CPU. stop_machine() lets them all spin with
// interrupts off while one of them runs a function (kernel/stop_machine.c: multi_cpu_stop).
#include "core/machine/state.h"
#include "core/series/series.h"

namespace sd::machine {

using engine::Order;
using engine::RmwOp;

namespace {

enum StopState : uint32_t { kNone, kPrepare, kDisableIrq, kRun, kExit };

constexpr const char* kFn = "multi_cpu_stop";

}  // namespace

// Everything that will be sent before the rendezvous has been by now, and may arrive as late as it
// likes. But without P05 the csds of a CPU that goes down are freed, and others may be called by them
// still: only that a real rendezvous takes far longer than an interrupt keeps that from being seen.
bool Machine::sender_may_be_freed(const Cpu& cpu, const StopWork& work) const {
  return cpu.id != work.active_cpu && !config_.patches[static_cast<size_t>(series::Patch::p05)];
}

void Machine::queue_stop(Cpu& cpu, StopWork* work) {
  stop_work_[cpu.id].push_back(work);
  wake(cpu.stopper, false, kFn);
}

void Machine::stopper_thread(Cpu& cpu) {
  std::vector<StopWork*>& works = stop_work_[cpu.id];
  while (!works.empty()) {
    StopWork* work = works.front();
    works.erase(works.begin());
    run_stop_work(cpu, work);
  }
}

void Machine::run_stop_work(Cpu& cpu, StopWork* work) {
  if (!work->rendezvous) {
    work->result = work->fn(work->arg);
    work->finished = true;
    wake_waiters(&work->done, ~0u, false);
    return;
  }
  const bool runs = work->active_cpu == sd_any_cpu || work->active_cpu == cpu.id;
  uint32_t state = kNone;
  do {
    while (load(stop_state_, 4, Order::acquire, kFn) == state)
      sd_wait_change(stop_state_, state, 4, 0, kFn);
    ++state;
    if (state == kDisableIrq) {
      if (sender_may_be_freed(cpu, *work)) deliver_pending(cpu);
      sd_local_irq_disable(kFn);
    } else if (state == kRun && runs) {
      emit(event::stop_run, nullptr, cpu.id, 0, work->name);
      const int result = work->fn(work->arg);
      if (result) work->result = result;
      emit(event::stop_done, nullptr, cpu.id, 0, work->name);
    }
    if (rmw(stop_ack_, RmwOp::sub, 1, 4, Order::full, kFn) == 1) {
      store(stop_ack_, work->threads, 4, Order::relaxed, kFn);
      sd_fence(sd_wmb, kFn);
      store(stop_state_, state + 1, 4, Order::relaxed, kFn);
    }
  } while (state != kExit);
  sd_local_irq_enable(kFn);
  if (--work->threads == 0) {
    work->finished = true;
    wake_waiters(&work->done, ~0u, false);
  }
}

int Machine::stop_machine(int (*fn)(void*), void* arg, unsigned cpu, const char* name) {
  point(OpKind::lock, &stop_queue_);
  while (stop_locked_) block_on(&stop_queue_, name);
  stop_locked_ = true;
  StopWork work;
  work.fn = fn;
  work.arg = arg;
  work.active_cpu = cpu;
  work.name = name;
  work.threads = num_online_;
  // One section with preemption off, so that no stopper starts to wait for one that is not queued yet.
  sd_preempt_disable(name);
  store(stop_ack_, num_online_, 4, Order::relaxed, name);
  store(stop_state_, kPrepare, 4, Order::relaxed, name);
  for (Cpu& c : cpus_) {
    if (online(c.id)) queue_stop(c, &work);
  }
  sd_preempt_enable(name);
  while (!work.finished) block_on(&work.done, name);
  sd_sync_acquire(&stop_queue_);
  stop_locked_ = false;
  wake_waiters(&stop_queue_, 1, false);
  point(OpKind::none, nullptr);
  return work.result;
}

}  // namespace sd::machine
