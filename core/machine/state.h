// The machine itself. One object per process, reset for each execution; the C interface (sd.h) and
// the driver's interface (machine.h) are thin doors to it. Private to core/machine.
//
// Invariants: exactly one fiber runs; cpu_ is the vCPU whose current task (or an interrupt on
// top of it) that fiber is. Every other task stands at a scheduling point. The action set says,
// for every vCPU, what its current context could do next, and is brought up to date when that
// changes (refresh).
#pragma once

#include <array>
#include <cstdarg>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/bugs/bugs.h"
#include "core/engine/chooser.h"
#include "core/engine/fiber.h"
#include "core/engine/heap.h"
#include "core/engine/memory.h"
#include "core/engine/space.h"
#include "core/engine/trace.h"
#include "core/machine/config.h"
#include "core/machine/cpu.h"
#include "core/machine/events.h"
#include "core/machine/topology.h"

namespace sd::machine {

using engine::OpKind;

// A variable that a static object of the layers above reserved.
struct Reservation {
  size_t offset;
  size_t size;
  const char* name;
};

// An area layout (per-CPU, or global): grows while statics are constructed, fixed afterwards.
struct Layout {
  size_t used = 0;
  std::vector<Reservation> variables;
  size_t reserve(size_t size, size_t align, const char* name, size_t limit);
  const Reservation* find(size_t offset) const;
};
Layout& percpu_layout();
Layout& global_layout();

struct CpuhpStep {
  int (*startup)(unsigned) = nullptr;
  int (*teardown)(unsigned) = nullptr;
};

// What stop_machine's threads share. The words they poll are marked accesses like any other.
struct StopWork {
  int (*fn)(void*) = nullptr;
  void* arg = nullptr;
  unsigned active_cpu = sd_any_cpu;
  const char* name = "";
  int result = 0;
  unsigned threads = 0;
  unsigned slot = 0;       // of the words that they poll
  bool rendezvous = true;  // false: a work for one CPU, no rendezvous
  sd_waitq done{};
  bool finished = false;
};

struct Hotplug {
  struct PerCpu {
    sd_cpuhp_state state = sd_cpuhp_offline;
    sd_cpuhp_state target = sd_cpuhp_offline;
    sd_cpuhp_state fail = sd_cpuhp_nr_states;  // armed failure injection
    bool bringup = false;
    int result = 0;
    bool thread_done = false;  // the hotplug thread has reached its target, or failed
    bool dead_reported = false;
    bool online_idle = false;  // the CPU has enabled interrupts and idles
    sd_waitq done{};           // the controlling task waits here for one of the three
  };
  std::vector<PerCpu> cpus;
  // cpu_hotplug_lock, a sleeping reader-writer lock that prefers writers.
  unsigned readers = 0;
  bool writer = false;
  unsigned writers_waiting = 0;
  sd_waitq lock_queue{};
  bool add_remove_locked = false;
  sd_waitq add_remove_queue{};
  uint64_t onlined = 0, offlined = 0, failed = 0;
};

class Machine {
 public:
  static Machine& get() {
    return __builtin_expect(instance_ != nullptr, 1) ? *instance_ : create();
  }

  Outcome run(const Config& config, engine::Chooser& chooser, void (*entry)(void*), void* arg);
  void disarrange();
  [[noreturn]] void fail(engine::Failure failure);

  // ---- scheduling points (point.cc)
  void point(OpKind op, const volatile void* addr);
  // Chooses and performs actions until the running task is told to go on.
  void dispatch(sd_task* self);
  void refresh(Cpu& cpu);
  void park(const volatile void* p, uint64_t old, unsigned size, uint64_t deadline_ns,
            const char* fn);
  void wake_parked(const volatile void* p);
  void unpark_range(const volatile void* p, size_t size);
  void unpark(sd_task* task);
  void unpark_by_store(sd_task* task);
  void not_before(sd_task* task, uint64_t ns);

  // ---- tasks (sched.cc)
  sd_task* create_task(void (*entry)(void*), void* arg, const char* name, sd_task_class sched_class,
                       unsigned cpu);
  const char* atomic_context() const;
  void might_sleep(const char* fn);  // fails if the running context may not
  void forget_task(sd_task* task);
  void schedule();  // the current task is not running any more, or yields
  void switch_current(Cpu& cpu, sd_task* next);
  void preempt(Cpu& cpu);
  sd_task* pick_next(Cpu& cpu);
  void put_back(Cpu& cpu, sd_task* task);
  void enqueue(sd_task* task, unsigned cpu);
  void dequeued(sd_task* task);
  unsigned select_cpu(sd_task* task);
  bool can_leave(const sd_task* task) const;
  void order_wakeup(sd_task* task);
  void make_runnable(sd_task* task, unsigned chosen_cpu = sd_any_cpu);  // machine-atomic wake-up
  bool wake(sd_task* task, bool may_queue, const char* fn);
  void block(const char* what, const char* fn);
  void block_on(sd_waitq* queue, const char* fn);
  sd_task* pop_waiter(sd_waitq* queue);
  unsigned wake_waiters(sd_waitq* queue, unsigned limit, bool may_queue);
  void kick(Cpu& cpu);
  bool resched_due();
  void migrate_one();
  void push_away(Cpu& cpu);
  void task_returned();

  // ---- interrupts (interrupt.cc)
  // From the running context; `ordered`: the handler is ordered after it.
  void raise(unsigned cpu, unsigned vector, uint64_t when_ns, bool ordered);
  void run_irq(Cpu& cpu, unsigned vector);
  void deliver_pending(Cpu& cpu);
  void set_irqs(bool off);

  // ---- timers (timer.cc)
  void arm_timer(sd_task* task, uint64_t deadline_ns);
  void cancel_timer(sd_task* task);
  void refresh_timer_action();
  void fire_timer();
  void handle_timer_vector();
  void move_timers(Cpu& from);

  // ---- RCU (rcu.cc)
  void rcu_quiescent(Cpu& cpu);
  void rcu_passed(Cpu& cpu);
  void rcu_task_unlocked(sd_task* task);
  void rcu_switch(Cpu& cpu, sd_task* prev);
  void synchronize_rcu(const char* fn);

  // ---- hotplug (hotplug.cc, stop_machine.cc)
  int cpu_down(unsigned cpu, const char* fn);
  int cpu_up(unsigned cpu, const char* fn);
  int invoke(unsigned cpu, sd_cpuhp_state state, bool bringup);
  int walk(unsigned cpu, sd_cpuhp_state target, bool bringup);
  int run_hotplug_thread(unsigned cpu, sd_cpuhp_state target, bool bringup);
  int take_down_cpu(unsigned cpu);
  void lock_hotplug(const char* fn);
  void unlock_hotplug();
  void arm_failure(unsigned cpu, bool bringup);
  int builtin_step(unsigned cpu, sd_cpuhp_state state, bool bringup);
  void hotplug_thread(Cpu& cpu);
  void stopper_thread(Cpu& cpu);
  bool sender_may_be_freed(const Cpu& cpu, const StopWork& work) const;
  void run_stop_work(Cpu& cpu, StopWork* work);
  void queue_stop(Cpu& cpu, StopWork* work);
  int stop_machine(int (*fn)(void*), void* arg, unsigned cpu, const char* name);
  int stop_two_cpus(unsigned cpu1, unsigned cpu2, int (*fn)(void*), void* arg, const char* name);
  unsigned take_stop_slot();
  volatile uint32_t* stop_state(const StopWork& work) const;
  volatile uint32_t* stop_ack(const StopWork& work) const;
  void park_stopper(Cpu& cpu);
  void ap_startup(Cpu& cpu);
  int take_cpu_down(Cpu& cpu);
  void cpus_read_lock(const char* fn);
  void cpus_read_unlock();
  void set_mask_bit(volatile uint64_t* mask, unsigned cpu, bool set);

  // ---- accesses (memory_ops.cc): one point, before it. The stack's have another one behind them;
  // the machine's own have not, as no plain access of the stack follows that could tell.
  uint64_t load(const volatile void* p, unsigned size, engine::Order order, const char* fn);
  void store(volatile void* p, uint64_t value, unsigned size, engine::Order order, const char* fn);
  uint64_t rmw(volatile void* p, engine::RmwOp op, uint64_t operand, unsigned size,
               engine::Order order, const char* fn);
  void fence(engine::Fence kind, const char* fn);  // no point

  // ---- decisions, time, events
  uint32_t choose(uint32_t n, engine::Purpose purpose);
  void charge(uint64_t ns) { cpu_->time_ns += ns; }
  void charge_access(const volatile void* p, bool atomic);
  void emit(engine::EventId id, const volatile void* obj, uint64_t a, uint64_t b, const char* fn) {
    emit_on(*cpu_, id, obj, a, b, fn);
  }
  void emit_on(const Cpu& cpu, engine::EventId id, const volatile void* obj, uint64_t a, uint64_t b,
               const char* fn);
  void check_access(const volatile void* p, unsigned size, const char* what, const char* fn);
  engine::Site site(const char* fn) const;
  uint64_t now() const;

  // ---- reports (report.cc)
  std::string describe(const volatile void* p) const;
  std::string describe_waiters() const;
  engine::Failure failure_here(engine::FailureKind kind, const char* id, const char* fn) const;
  void printk(const char* text);

  sd_task* current() const { return cpu_->current; }
  Cpu& this_cpu() { return *cpu_; }
  Cpu& cpu(unsigned id) { return cpus_[id]; }
  unsigned cpus() const { return config_.cpus; }
  bool bug(bugs::Bug bug) const { return config_.bugs[static_cast<size_t>(bug)]; }
  bool online(unsigned cpu) const { return bit(online_, cpu); }
  bool active(unsigned cpu) const { return bit(active_, cpu); }
  static bool bit(const volatile uint64_t* mask, unsigned cpu) {
    return (mask[cpu / 64] >> (cpu % 64)) & 1;
  }

  // State. Grouped by what it belongs to.
  Config config_;
  Topology topology_;
  engine::Space space_;
  engine::Heap heap_{&space_};
  engine::Memory memory_;
  engine::Trace trace_;
  std::unique_ptr<engine::FiberPool> fibers_;
  engine::Chooser* chooser_ = nullptr;
  engine::ActionSet actions_;
  sd_stack_ops ops_{};
  std::array<CpuhpStep, sd_cpuhp_nr_states> steps_table_{};

  std::vector<Cpu> cpus_;
  std::vector<std::unique_ptr<sd_task>> task_pool_;
  uint32_t tasks_used_ = 0;
  uint32_t live_tasks_ = 0;           // neither dead nor daemons
  std::vector<sd_task*> migratable_;  // runnable, waiting, and free to run elsewhere
  Cpu* cpu_ = nullptr;
  // Whose fiber is running; differs from cpu_->current while that is being switched.
  sd_task* running_task_ = nullptr;
  bool running_ = false;  // points are taken
  bool stopping_ = false;
  bool failed_ = false;
  bool disarranged_ = false;
  std::optional<engine::Failure> failure_;
  uint64_t steps_ = 0;
  uint64_t step_bound_ = 0;
  uint64_t latest_ns_ = 0;  // the furthest any vCPU has got
  uint64_t choices_ = 0;

  // Timers: a binary heap of tasks by (deadline, number).
  struct Timer {
    uint64_t deadline_ns;
    uint64_t number;
    sd_task* task;
  };
  std::vector<Timer> timers_;
  uint64_t timer_numbers_ = 0;
  uint64_t timer_offer_at_ns_ = ~0ull;  // when the earliest one becomes choosable, if it is not yet
  uint32_t disturbances_ = 0;           // actions since a context last ran
  // Of polling contexts, passed since anybody's wait came to an end.
  uint32_t fruitless_deadlines_ = 0;

  // Parked contexts by address.
  static constexpr uint32_t kParkBuckets = 64;
  std::array<sd_task*, kParkBuckets> parked_{};
  uint32_t parked_count_ = 0;

  bool gp_running_ = false;
  uint32_t gp_waiting_ = 0;  // CPUs and preempted readers that have yet to be quiescent
  sd_waitq gp_done_{};

  Hotplug hotplug_;
  bool stop_locked_ = false;
  sd_waitq stop_queue_{};
  std::vector<std::vector<StopWork*>> stop_work_;  // by CPU, first in first out

  volatile uint64_t* online_ = nullptr;  // masks in the globals
  volatile uint64_t* active_ = nullptr;
  volatile uint64_t* dying_ = nullptr;
  // The words of the rendezvous that are going on: slot 0 is stop_machine()'s.
  static constexpr unsigned kStopSlots = 64;
  static constexpr size_t kStopSlotSize = 2 * engine::kCacheLine;
  char* stop_words_ = nullptr;
  uint64_t stop_slots_used_ = 0;
  volatile uint32_t* task_flags_ = nullptr;
  unsigned num_online_ = 0;

  bool bind_task(sd_task* task, unsigned cpu, const char* fn);

  static constexpr size_t kLogLines = 256;
  std::vector<std::string> log_;  // the last lines of printk
  // ThreadSanitizer: order between executions and their driver.
  char start_token_ = 0, end_token_ = 0;
  std::array<char, kMaxCpus> cpu_tokens_{};
  std::array<char, kMaxCpus * sd_nr_vectors> ipi_tokens_{};

 private:
  static inline Machine* instance_ = nullptr;
  static Machine& create();

  Machine();
  void place_globals();
  void mirror_tasks();
  void boot(void (*entry)(void*), void* arg);
  void shut_down();
  void finish_quietly();
  void join_contexts();
  static void idle_entry(void* cpu);
  static constexpr uint32_t kFinished = ~0u;
  uint32_t pick_action();             // its id, or kFinished: every task has ended and all is quiet
  sd_task* perform(uint32_t action);  // the task to resume, or nullptr: choose again
  void set_calm_action();
  void offer_irqs(Cpu& cpu, uint8_t deliverable);
  void offer_preemption(Cpu& cpu, bool preemptible);
  void note_disturbance();
  bool somebody_is_stuck() const;
  [[noreturn]] void report_hang();
  bool nothing_can_run();  // false: finished
  void resume(sd_task* self, sd_task* target);
  void arrive(sd_task* self);
  static void fiber_main(void* task);
  static void on_fiber_return();
};

// Ids of actions: the same thing has the same id in every execution on a machine of this size. The
// low bits say what it is, the others for which CPU; what belongs to no CPU comes last.
enum class ActionKind : uint32_t { run, irq, preempt = irq + sd_nr_vectors, kinds_per_cpu };
inline constexpr unsigned kActionKindBits = 3;
static_assert(static_cast<unsigned>(ActionKind::kinds_per_cpu) <= 1u << kActionKindBits);
inline constexpr uint32_t action_id(ActionKind kind, unsigned cpu, unsigned vector = 0) {
  return cpu << kActionKindBits | (static_cast<uint32_t>(kind) + vector);
}
inline constexpr ActionKind action_kind(uint32_t id) {
  return static_cast<ActionKind>(id & ((1u << kActionKindBits) - 1));
}
inline constexpr uint32_t migrate_action(const Config& config) {
  return config.cpus << kActionKindBits;
}
inline constexpr uint32_t timer_action(const Config& config) {
  return migrate_action(config) + 1;
}
inline constexpr uint32_t action_capacity(const Config& config) {
  return migrate_action(config) + 2;
}

}  // namespace sd::machine
