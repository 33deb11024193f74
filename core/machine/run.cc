// Booting, running and ending an execution; the driver's interface.
#include <algorithm>
#include <functional>

#include "core/engine/sanitizer.h"
#include "core/machine/machine.h"
#include "core/machine/state.h"

namespace sd::machine {

using engine::Failure;
using engine::FailureKind;
using engine::Fiber;

namespace {

// Thrown by fail() where there is no fiber to leave: before the first, and after the last has
// ended.
struct FailedOnDriver {};

// The words of thread_info::flags, one line each, live in the upper half of the globals.
constexpr size_t kTaskFlagsOffset = engine::Space::kGlobalsSize / 2;
static_assert(kMaxTasks * engine::kCacheLine <= engine::Space::kGlobalsSize / 2);

constexpr size_t kMaskBytes = kMaxCpus / 8;

size_t reserve_masks() {
  static const size_t offset =
      global_layout().reserve(3 * kMaskBytes, 64, "cpu masks", engine::Space::kGlobalsSize / 2);
  return offset;
}

size_t reserve_stop_words() {
  static const size_t offset =
      global_layout().reserve(Machine::kStopSlots * Machine::kStopSlotSize, 64, "multi_stop_data",
                              engine::Space::kGlobalsSize / 2);
  return offset;
}

}  // namespace

size_t Layout::reserve(size_t size, size_t align, const char* name, size_t limit) {
  // Each variable has cache lines of its own.
  align = std::max(align, engine::kCacheLine);
  const size_t offset = (used + align - 1) / align * align;
  SD_CHECK(offset + size <= limit);
  used = (offset + size + engine::kCacheLine - 1) / engine::kCacheLine * engine::kCacheLine;
  variables.push_back(Reservation{offset, size, name});
  return offset;
}

const Reservation* Layout::find(size_t offset) const {
  for (const Reservation& r : variables) {
    if (offset >= r.offset && offset < r.offset + r.size) return &r;
  }
  return nullptr;
}

Layout& percpu_layout() {
  static Layout layout;
  return layout;
}

Layout& global_layout() {
  static Layout layout;
  return layout;
}

Machine& Machine::create() {
  static Machine machine;
  instance_ = &machine;
  return machine;
}

Machine::Machine() {
  fibers_ = std::make_unique<engine::FiberPool>(kMaxTasks, on_fiber_return);
  place_globals();
  log_.reserve(kLogLines);
  event::register_events();
}

void Machine::place_globals() {
  char* masks = space_.globals() + reserve_masks();
  online_ = reinterpret_cast<volatile uint64_t*>(masks);
  active_ = reinterpret_cast<volatile uint64_t*>(masks + kMaskBytes);
  dying_ = reinterpret_cast<volatile uint64_t*>(masks + 2 * kMaskBytes);
  stop_words_ = space_.globals() + reserve_stop_words();
  task_flags_ = reinterpret_cast<volatile uint32_t*>(space_.globals() + kTaskFlagsOffset);
}

// Of any two tasks, the one that lay above the other lies below it afterwards.
void Machine::mirror_tasks() {
  std::vector<sd_task*> by_address;
  for (const auto& task : task_pool_) by_address.push_back(task.get());
  std::sort(by_address.begin(), by_address.end(), std::less<>());
  for (auto& task : task_pool_) {
    const auto rank =
        std::lower_bound(by_address.begin(), by_address.end(), task.get(), std::less<>()) -
        by_address.begin();
    task.release();
    task.reset(by_address[by_address.size() - 1 - static_cast<size_t>(rank)]);
  }
}

void Machine::disarrange() {
  SD_CHECK(!running_);
  heap_.reset();
  space_.change_place();
  place_globals();
  disarranged_ = !disarranged_;
  heap_.grow_downwards(disarranged_);
  fibers_->disarrange();
  mirror_tasks();
  std::vector<Cpu> elsewhere(cpus_.size());  // while the old ones are still there
  cpus_.swap(elsewhere);
}

void Machine::idle_entry(void* argument) {
  Machine& m = get();
  Cpu& c = *static_cast<Cpu*>(argument);
  while (!m.stopping_) {
    if (c.revived) {
      c.revived = false;
      m.ap_startup(c);
    }
    m.ops_.idle_loop(c.id);
  }
}

void Machine::boot(void (*entry)(void*), void* arg) {
  const unsigned n = config_.cpus;
  const unsigned online_at_boot = config_.boot_cpus ? std::min(config_.boot_cpus, n) : n;
  space_.reset(global_layout().used, percpu_layout().used, n);
  for (uint32_t i = 0; i < tasks_used_; ++i)
    space_.line_user(kTaskFlagsOffset + i * engine::kCacheLine) = 0;
  heap_.reset();
  memory_.reset(n);
  topology_.configure(n, config_.smt, config_.nodes);
  actions_.reset(action_capacity(config_));

  tasks_used_ = 0;
  live_tasks_ = 0;
  migratable_.clear();
  timers_.clear();
  timer_offer_at_ns_ = ~0ull;
  parked_.fill(nullptr);
  parked_count_ = 0;
  steps_ = latest_ns_ = choices_ = timer_numbers_ = fruitless_deadlines_ = disturbances_ = 0;
  gp_running_ = stop_locked_ = stopping_ = failed_ = false;
  gp_done_ = stop_queue_ = {};
  stop_slots_used_ = 0;
  log_.clear();
  step_bound_ = config_.step_bound ? config_.step_bound : 1'000'000 + 50'000ull * n;

  cpus_.resize(n);
  stop_work_.resize(n);
  hotplug_.cpus.assign(n, Hotplug::PerCpu{});
  hotplug_.readers = hotplug_.writers_waiting = 0;
  hotplug_.writer = hotplug_.add_remove_locked = false;
  hotplug_.lock_queue = hotplug_.add_remove_queue = {};
  hotplug_.onlined = hotplug_.offlined = hotplug_.failed = 0;
  for (unsigned i = 0; i < n; ++i) {
    Cpu& c = cpus_[i];
    c = Cpu{};
    c.id = i;
    stop_work_[i].clear();
    const bool up = i < online_at_boot;
    c.alive = c.halted = c.stopper_enabled = up;
    hotplug_.cpus[i].state = up ? sd_cpuhp_online : sd_cpuhp_offline;
    for (volatile uint64_t* mask : {online_, active_}) {
      if (up) mask[i / 64] = mask[i / 64] | 1ull << (i % 64);
    }
    char name[32];
    snprintf(name, sizeof(name), "swapper/%u", i);
    c.idle = create_task(idle_entry, &c, name, sd_task_class::idle, i);
    c.idle->preempt_count = 1;
    c.idle->daemon = true;
    c.idle->state = sd_task_state::running;
    c.current = c.idle;
  }
  num_online_ = online_at_boot;
  cpu_ = &cpus_[0];
  for (unsigned i = 0; i < n; ++i) {
    Cpu& c = cpus_[i];
    char name[32];
    snprintf(name, sizeof(name), "migration/%u", i);
    c.stopper = create_task([](void* cpu) { get().stopper_thread(*static_cast<Cpu*>(cpu)); }, &c,
                            name, sd_task_class::stopper, i);
    snprintf(name, sizeof(name), "cpuhp/%u", i);
    c.hotplug_thread = create_task([](void* cpu) { get().hotplug_thread(*static_cast<Cpu*>(cpu)); },
                                   &c, name, sd_task_class::normal, i);
    for (sd_task* task : {c.stopper, c.hotplug_thread}) {
      task->daemon = task->per_cpu_kthread = true;
      task->bound = i;
      task->state = sd_task_state::blocked;
    }
  }
  if (ops_.boot) ops_.boot();
  // Every task but the first, swapper/0, is made by a fork. Nothing fails so early.
  const uint32_t forked = ops_.task_created ? tasks_used_ : 0;
  for (uint32_t i = 1; i < forked; ++i) ops_.task_created(task_pool_[i].get(), cpus_[0].idle);
  sd_task* main_task = create_task(entry, arg, "init", sd_task_class::normal, 0);
  if (ops_.task_created) ops_.task_created(main_task, nullptr);
  wake(main_task, false, "boot");
}

Outcome Machine::run(const Config& config, engine::Chooser& chooser, void (*entry)(void*),
                     void* arg) {
  SD_CHECK(!running_ && config.cpus >= 1 && config.cpus <= kMaxCpus);
  SD_CHECK(ops_.idle_loop && ops_.handle_vector);
  config_ = config;
  chooser_ = &chooser;
  running_task_ = nullptr;
  failure_.reset();
  try {
    boot(entry, arg);
    trace_.begin();
    engine::tsan_release(&start_token_);
    running_ = true;
    sd_task* target = nullptr;
    while (!target) target = perform(pick_action());
    if (!target->fiber) {
      target->fiber = fibers_->acquire();
      target->fiber->start(fiber_main, target);
    }
    running_task_ = target;
    Fiber::switch_to(Fiber::driver(), target->fiber);
    running_ = false;
    join_contexts();
    if (!failed_) {
      finish_quietly();
      trace_.end();
      shut_down();
    }
  } catch (const FailedOnDriver&) {
    running_ = false;
  }
  join_contexts();
  for (uint32_t i = 0; i < tasks_used_; ++i) {
    sd_task* task = task_pool_[i].get();
    if (!task->fiber) continue;
    const bool dormant =
        !failed_ &&
        (task->state == sd_task_state::dead || task->sched_class == sd_task_class::idle ||
         (task->daemon && task->state == sd_task_state::blocked && !task->queue));
    if (dormant) {
      fibers_->release(task->fiber);
    } else {
      fibers_->abandon(task->fiber);
    }
    task->fiber = nullptr;
  }

  Outcome outcome;
  outcome.failed = failed_;
  if (failure_) outcome.failure = *failure_;
  trace_.mix(steps_);
  outcome.trace_hash = trace_.hash();
  outcome.steps = steps_;
  outcome.virtual_ns = latest_ns_;
  outcome.choices = choices_;
  outcome.onlined = hotplug_.onlined;
  outcome.offlined = hotplug_.offlined;
  outcome.hotplug_failed = hotplug_.failed;
  return outcome;
}

// Whatever the contexts have done is ordered before what the driver does next.
void Machine::join_contexts() {
  if (!engine::kTsan) return;
  for (uint32_t i = 0; i < tasks_used_; ++i) {
    const sd_task* task = task_pool_[i].get();
    if (!task->started) continue;
    const Fiber::Impersonate as(Fiber::driver(), task->fiber);
    engine::tsan_release(&end_token_);
  }
  engine::tsan_acquire(&end_token_);
}

// The last checks that belong to no oracle. On the driver, all contexts suspended.
void Machine::finish_quietly() {
  running_task_ = nullptr;
  cpu_ = &cpus_[0];
  const engine::Heap::Object* object = heap_.corrupted();
  if (!object) return;
  Failure failure =
      failure_here(FailureKind::use_after_free, "heap-corruption",
                   object->live ? object->allocated.function : object->freed.function);
  failure.message = describe(space_.at(object->offset)) +
                    (object->live ? " was written past its end by a plain store"
                                  : " was written by a plain store after it was freed");
  fail(std::move(failure));
}

// Lets the idle loops, the only contexts that are left, come to their ends.
void Machine::shut_down() {
  stopping_ = true;
  for (Cpu& c : cpus_) {
    sd_task* idle = c.idle;
    if (!idle->started) continue;
    SD_CHECK(c.current == idle);
    idle->command = sd_task::Command::go;
    running_task_ = idle;
    Fiber::switch_to(Fiber::driver(), idle->fiber);
  }
  stopping_ = false;
  running_task_ = nullptr;
}

void Machine::fail(Failure failure) {
  if (!failed_) {
    const engine::TsanIgnore ignore;
    failed_ = true;
    failure_.emplace(std::move(failure));  // takes everything: the context that called is abandoned
  }
  running_ = false;
  if (!running_task_) throw FailedOnDriver{};
  Fiber::switch_to(running_task_->fiber, Fiber::driver());
  SD_CHECK(false);
  __builtin_unreachable();
}

uint32_t Machine::choose(uint32_t n, engine::Purpose purpose) {
  if (!running_ || n < 2) return 0;
  const uint32_t value = chooser_->number(n, purpose);
  SD_CHECK(value < n);
  ++choices_;
  trace_.mix(value);
  return value;
}

void Machine::emit_on(const Cpu& cpu, engine::EventId id, const volatile void* obj, uint64_t a,
                      uint64_t b, const char* fn) {
  if (!running_) return;
  engine::Event& event = trace_.next();
  event.step = steps_;
  event.time_ns = cpu.time_ns;
  event.function = fn;
  event.obj = obj;
  event.a = a;
  event.b = b;
  event.cpu = static_cast<uint16_t>(cpu.id);
  event.task = cpu.current->id;
  event.id = id;
  event.irq_depth = cpu.hardirq_depth;
  trace_.commit();
}

Outcome run(const Config& config, engine::Chooser& chooser, void (*entry)(void*), void* arg) {
  return Machine::get().run(config, chooser, entry, arg);
}

void disarrange() {
  Machine::get().disarrange();
}

engine::Trace& trace() {
  return Machine::get().trace_;
}
const Config& config() {
  return Machine::get().config_;
}
uint64_t steps_now() {
  return Machine::get().steps_;
}
void fail(engine::Failure failure) {
  Machine::get().fail(std::move(failure));
}

}  // namespace sd::machine
