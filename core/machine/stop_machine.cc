// Stopper threads: the highest class of task on each CPU. stop_machine() lets them all spin with
// interrupts off while one of them runs a function (kernel/stop_machine.c: multi_cpu_stop).
#include <cerrno>

#include "core/machine/state.h"
#include "core/series/series.h"

namespace sd::machine {

using bugs::Bug;
using engine::Failure;
using engine::FailureKind;
using engine::Order;
using engine::RmwOp;

namespace {

enum StopState : uint32_t { kNone, kPrepare, kDisableIrq, kRun, kExit };

constexpr const char* kFn = "multi_cpu_stop";

}  // namespace

// Everything that will be sent before the rendezvous has been by now, and may arrive as late as it
// likes. But without P05 the csds of a CPU that goes down are freed, and others may be
// called by them still: only that a real rendezvous takes far longer than an interrupt keeps
// that from being seen.
bool Machine::sender_may_be_freed(const Cpu& cpu, const StopWork& work) const {
  return work.slot == 0 && cpu.id != work.active_cpu &&
         !config_.patches[static_cast<size_t>(series::Patch::p05)];
}

void Machine::queue_stop(Cpu& cpu, StopWork* work) {
  if (!cpu.stopper_enabled && bug(Bug::h14)) return;
  SD_CHECK(cpu.stopper_enabled);
  stop_work_[cpu.id].push_back(work);
  wake(cpu.stopper, false, kFn);
}

void Machine::stopper_thread(Cpu& cpu) {
  if (bug(Bug::h14)) cpu.stopper_enabled = true;
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
  volatile uint32_t* state_word = stop_state(*work);
  volatile uint32_t* ack_word = stop_ack(*work);
  uint32_t state = kNone;
  do {
    while (load(state_word, 4, Order::acquire, kFn) == state)
      sd_wait_change(state_word, state, 4, 0, kFn);
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
    if (rmw(ack_word, RmwOp::sub, 1, 4, Order::full, kFn) == 1) {
      store(ack_word, work->threads, 4, Order::relaxed, kFn);
      fence(engine::Fence::wmb, kFn);
      store(state_word, state + 1, 4, Order::relaxed, kFn);
    }
  } while (state != kExit);
  sd_local_irq_enable(kFn);
  if (--work->threads == 0) {
    work->finished = true;
    wake_waiters(&work->done, ~0u, false);
  }
}

volatile uint32_t* Machine::stop_state(const StopWork& work) const {
  return reinterpret_cast<volatile uint32_t*>(stop_words_ + work.slot * kStopSlotSize);
}

volatile uint32_t* Machine::stop_ack(const StopWork& work) const {
  return reinterpret_cast<volatile uint32_t*>(stop_words_ + work.slot * kStopSlotSize +
                                              engine::kCacheLine);
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
  // One section with preemption off, so that no stopper starts to wait for one that
  // is not queued yet.
  sd_preempt_disable(name);
  store(stop_ack(work), num_online_, 4, Order::relaxed, name);
  store(stop_state(work), kPrepare, 4, Order::relaxed, name);
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

unsigned Machine::take_stop_slot() {
  unsigned slot = 1;
  while (slot < kStopSlots && (stop_slots_used_ >> slot) & 1) ++slot;
  if (slot == kStopSlots) {
    Failure failure = failure_here(FailureKind::harness, "stop-slots-exhausted", "stop_two_cpus");
    failure.message =
        "more than " + std::to_string(kStopSlots - 1) + " calls of stop_two_cpus() at once";
    fail(std::move(failure));
  }
  stop_slots_used_ |= 1ull << slot;
  return slot;
}

// kernel/stop_machine.c: cpu_stop_queue_two_works(). Both works are queued in one section, under
// the locks of both stoppers: no two calls can be queued to the same two CPUs in different orders.
int Machine::stop_two_cpus(unsigned cpu1, unsigned cpu2, int (*fn)(void*), void* arg,
                           const char* name) {
  Cpu& first = cpus_[cpu1];
  Cpu& second = cpus_[cpu2];
  StopWork work;
  work.fn = fn;
  work.arg = arg;
  work.active_cpu = cpu1;
  work.name = name;
  work.threads = 2;
  work.slot = take_stop_slot();
  // The caller is not preempted before both are awake: the stopper of its own CPU would wait for
  // one that nobody wakes.
  const bool pinned = !bug(Bug::h16);
  if (pinned) sd_preempt_disable(name);
  store(stop_ack(work), work.threads, 4, Order::relaxed, name);
  store(stop_state(work), kPrepare, 4, Order::relaxed, name);
  point(OpKind::lock, &stop_queue_);
  const bool accepted = first.stopper_enabled && second.stopper_enabled;
  if (accepted) {
    for (Cpu* cpu : {&first, &second}) stop_work_[cpu->id].push_back(&work);
    point(OpKind::none, nullptr);
    for (Cpu* cpu : {&first, &second}) {
      wake(cpu->stopper, false, kFn);
      point(OpKind::wake, nullptr);
    }
  }
  if (pinned) sd_preempt_enable(name);
  while (accepted && !work.finished) block_on(&work.done, name);
  sd_sync_acquire(&stop_queue_);
  stop_slots_used_ &= ~(1ull << work.slot);
  return accepted ? work.result : -ENOENT;
}

// The CPU is dead. What is left is signalled as done by a stopper that accepted work for too long.
void Machine::park_stopper(Cpu& cpu) {
  cpu.stopper_enabled = false;
  std::vector<StopWork*>& works = stop_work_[cpu.id];
  SD_CHECK(works.empty() || bug(Bug::h15));
  for (StopWork* work : works) {
    if (--work->threads > 0) continue;
    work->finished = true;
    wake_waiters(&work->done, ~0u, false);
  }
  works.clear();
}

}  // namespace sd::machine
