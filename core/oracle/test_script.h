// For the tests of this folder: drives one observer with hand-made events, without a machine. Only
// events that it is subscribed to reach it. The first violation is remembered; what comes after is
// ignored.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/events.h"
#include "core/machine/sd.h"
#include "core/oracle/oracle.h"
#include "core/smp/trace.h"

namespace sd::oracle::testing {

namespace tp = smp::tp;
namespace mev = machine::event;
namespace eev = engine::event;
using smp::call_args;
using smp::call_kind;
using smp::call_single_data_t;

inline constexpr unsigned kSync = smp::CSD_TYPE_SYNC;
inline constexpr unsigned kAsync = smp::CSD_TYPE_ASYNC;
inline constexpr unsigned kIrqWork = smp::CSD_TYPE_IRQ_WORK;
inline constexpr unsigned kTtwu = smp::CSD_TYPE_TTWU;

inline void func(void*) {}
inline void other_func(void*) {}

struct Violation {
  engine::Failure failure;
};
inline void throw_it(engine::Failure failure) {
  throw Violation{std::move(failure)};
}

// A machine of plain values: all CPUs online, interrupts on, nothing pending.
class FakeView : public View {
 public:
  explicit FakeView(unsigned cpus) : cpus_(cpus) {
    for (unsigned cpu = 0; cpu < cpus; ++cpu) set_online(cpu, true);
  }
  void set_online(unsigned cpu, bool value) {
    online_words.bits[0] =
        value ? online_words.bits[0] | 1ull << cpu : online_words.bits[0] & ~(1ull << cpu);
  }

  unsigned nr_cpus() const override { return cpus_; }
  bool cpu_online(unsigned cpu) const override { return (online_words.bits[0] >> cpu) & 1; }
  bool cpu_active(unsigned) const override { return active; }
  unsigned preempt_count() const override { return depth; }
  bool irqs_disabled() const override { return irqs_off; }
  bool in_task() const override { return task_context; }
  bool is_idle(unsigned task) const override { return task < cpus_; }
  bool call_ipi_pending(unsigned cpu) const override { return pending[cpu]; }
  bool irq_pending(unsigned cpu) const override { return pending[cpu]; }
  uint32_t softirqs_pending(unsigned cpu) const override { return softirqs[cpu]; }
  const volatile void* queue_head(unsigned cpu) const override { return &heads[cpu]; }
  bool readable(const volatile void*, size_t) const override { return can_read; }
  const volatile void* online_mask() const override { return &online_words; }
  const volatile void* active_mask() const override { return &active_words; }
  bool patch(series::Patch which) const override {
    return patches.test(static_cast<unsigned>(which));
  }
  const volatile void* cpu_mask(unsigned cpu) const override { return &masks[cpu]; }
  const volatile void* cpu_csds(unsigned cpu) const override { return csds[cpu]; }
  bool csd_lock_stuck() const override { return stuck; }
  uint64_t csd_lock_timeout_ns() const override { return 1000; }
  std::string task_name(unsigned task) const override { return "task" + std::to_string(task); }
  std::string describe(const volatile void*) const override { return "something"; }

  smp::cpumask online_words{}, active_words{};
  unsigned depth = 0;
  bool irqs_off = false;
  bool task_context = true;
  bool can_read = true;
  bool active = true;
  bool stuck = false;
  series::PatchSet patches{};
  std::array<smp::cpumask, 64> masks{};
  std::array<const void*, 64> csds{};
  std::array<bool, 64> pending{};
  std::array<uint32_t, 64> softirqs{};
  struct alignas(64) Head {
    void* first = nullptr;
  };
  std::array<Head, 64> heads{};

 private:
  unsigned cpus_;
};

template <typename Observer>
class Script {
 public:
  explicit Script(unsigned cpus = 4) : view(cpus), observer(view, throw_it) { start(); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  // A new execution; what the view says now is its beginning.
  Script& start() {
    const auto ids = observer.interests();
    interests_.assign(256, false);
    for (const EventId id : ids) interests_[id] = true;
    observer.on_begin();
    return *this;
  }

  // Who does what follows.
  Script& on(unsigned cpu, unsigned task, unsigned irq_depth = 0) {
    cpu_ = cpu;
    task_ = task;
    irq_depth_ = irq_depth;
    return *this;
  }

  // When, by the clock of that CPU: ns.
  Script& at(uint64_t time_ns) {
    time_ns_ = time_ns;
    return *this;
  }

  Script& ev(EventId id, const volatile void* obj = nullptr, uint64_t a = 0, uint64_t b = 0) {
    // As the machine has it: a switch belongs to no function.
    return named(id == mev::sched_switch ? "" : "f", id, a, b, obj);
  }
  Script& named(const char* function, EventId id, uint64_t a = 0, uint64_t b = 0,
                const volatile void* obj = nullptr) {
    if (!interests_[id] || !id_.empty()) return *this;
    Event event;
    event.step = ++step_;
    event.time_ns = time_ns_;
    event.function = function;
    event.id = id;
    event.obj = obj;
    event.a = a;
    event.b = b;
    event.cpu = static_cast<uint16_t>(cpu_);
    event.task = static_cast<uint16_t>(task_);
    event.irq_depth = static_cast<uint8_t>(irq_depth_);
    catching([&] { observer.on_event(event); });
    return *this;
  }
  Script& finish() {
    if (id_.empty()) catching([&] { observer.on_end(); });
    return *this;
  }

  // ---- a call
  Script& begin(const call_args& args) {
    return ev(tp::call_begin, &args, static_cast<uint64_t>(args.kind), args.wait);
  }
  Script& pin() { return ev(tp::call_pinned, nullptr, cpu_); }
  Script& unpin() { return ev(tp::call_unpinned); }
  Script& end(int result = 0) { return ev(tp::call_end, nullptr, static_cast<uint32_t>(result)); }
  Script& locked(call_single_data_t* csd, unsigned target) {
    csd->node.u_flags |= smp::CSD_FLAG_LOCK;
    return ev(tp::csd_locked, csd, target);
  }
  Script& lock(call_single_data_t* csd, unsigned target) {
    return ev(tp::csd_lock_begin, csd).locked(csd, target);
  }
  // What csd_locked and the stores behind it do for a stack csd or a filled one.
  Script& fill(call_single_data_t* csd, unsigned type, void (*f)(void*) = func,
               void* info = nullptr) {
    csd->node.u_flags = smp::CSD_FLAG_LOCK | type;
    csd->func = f;
    csd->info = info;
    return *this;
  }
  // llist_add() on the queue, as its exchange shows it; the fake queue knows whether it is empty.
  Script& add(const void* node, unsigned target) {
    void*& first = view.heads[target].first;
    const auto before = reinterpret_cast<uint64_t>(first);
    first = const_cast<void*>(node);
    return ev(eev::rmw, &view.heads[target], before, reinterpret_cast<uint64_t>(node));
  }
  Script& queue(call_single_data_t* csd, unsigned target, unsigned type) {
    ev(tp::csd_queue_cpu, csd, target, type);
    const bool empty = view.heads[target].first == nullptr;
    return add(csd, target).ev(tp::csd_queued, csd, target, empty);
  }
  Script& send(unsigned target, unsigned vector = sd_vec_call_function_single) {
    ev(mev::ipi_send, nullptr, target, vector);
    view.pending[target] = true;
    return *this;
  }
  Script& unlock(call_single_data_t* csd) {
    const bool locked = csd->node.u_flags & smp::CSD_FLAG_LOCK;
    ev(tp::csd_unlock, csd, locked);
    csd->node.u_flags = 0;
    return *this;
  }
  Script& local(void (*f)(void*) = func, void* info = nullptr) {
    return enter(nullptr, f, info).leave(nullptr, f, info);
  }

  // ---- a flush, on the CPU of on()
  Script& flush_begin() {
    view.irqs_off = true;
    return ev(tp::flush_begin);
  }
  Script& take(unsigned queue) {
    void*& first = view.heads[queue].first;
    const auto before = reinterpret_cast<uint64_t>(first);
    first = nullptr;
    view.pending[queue] = false;
    return ev(eev::rmw, &view.heads[queue], before, 0);
  }
  Script& take() { return take(cpu_); }
  Script& flush_end() {
    ev(tp::flush_end);
    view.irqs_off = false;
    return *this;
  }
  Script& unlink(const void* node, unsigned type) { return ev(tp::csd_unlink, node, 0, type); }
  Script& enter(const void* csd, void (*f)(void*) = func, void* info = nullptr) {
    return ev(tp::func_entry, csd, reinterpret_cast<uint64_t>(f), reinterpret_cast<uint64_t>(info));
  }
  Script& leave(const void* csd, void (*f)(void*) = func, void* info = nullptr) {
    return ev(tp::func_exit, csd, reinterpret_cast<uint64_t>(f), reinterpret_cast<uint64_t>(info));
  }
  Script& run_sync(call_single_data_t* csd) {
    return unlink(csd, kSync).enter(csd).leave(csd).unlock(csd);
  }
  Script& run_async(call_single_data_t* csd) {
    return unlink(csd, kAsync).unlock(csd).enter(csd).leave(csd);
  }

  // ---- hotplug
  Script& go_offline(unsigned cpu) {
    view.set_online(cpu, false);
    return ev(mev::cpu_offline, nullptr, cpu);
  }
  Script& go_online(unsigned cpu) {
    view.set_online(cpu, true);
    return ev(mev::cpu_online, nullptr, cpu);
  }

  // The invariant that was violated, "" if none was.
  const std::string& id() const { return id_; }
  const engine::Failure& failure() const { return failure_; }

  FakeView view;
  Observer observer;

 private:
  template <typename Body>
  void catching(Body body) {
    try {
      body();
    } catch (const Violation& violation) {
      failure_ = violation.failure;
      EXPECT_NE(failure_.function, "") << failure_.id << " names no function";
      id_ = failure_.id;
    }
  }

  std::vector<bool> interests_;
  unsigned cpu_ = 0, task_ = 0, irq_depth_ = 0;
  uint64_t step_ = 0, time_ns_ = 0;
  std::string id_;
  engine::Failure failure_;
};

inline call_args single_args(int cpu, bool wait) {
  return {.kind = call_kind::single, .wait = wait, .cpu = cpu, .func = func};
}
inline call_args async_args(int cpu, const call_single_data_t* csd) {
  return {.kind = call_kind::single_async, .cpu = cpu, .csd = csd};
}
inline call_args many_args(const smp::cpumask* mask, bool wait, unsigned flags = 0) {
  return {.kind = call_kind::many, .wait = wait, .scf_flags = flags, .mask = mask, .func = func};
}
inline smp::cpumask mask_of(std::initializer_list<unsigned> cpus) {
  smp::cpumask mask{};
  for (const unsigned cpu : cpus) mask.bits[cpu / 64] |= 1ull << (cpu % 64);
  return mask;
}

}  // namespace sd::oracle::testing
