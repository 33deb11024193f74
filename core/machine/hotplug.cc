// CPU hotplug: the walk through the cpuhp states (kernel/cpu.c), by whom the specification names.
// The task that controls an operation (BP) runs the lower states, the CPU's own hotplug thread the
// upper ones, and the CPU itself, with interrupts off, those between.
#include <algorithm>
#include <cerrno>

#include "core/machine/cost.h"
#include "core/machine/state.h"

namespace sd::machine {

using engine::FailureKind;
using engine::Purpose;

namespace {

constexpr const char* kStateNames[] = {
    "offline",          "smpcfd:prepare",  "RCU/tree:prepare",
    "timers:prepare",   "bp:prepare:dyn",  "cpu:bringup",
    "idle:dead",        "ap:offline",      "sched:starting",
    "RCU/tree:dying",   "smpcfd:dying",    "hrtimers:dying",
    "tick:dying",       "ap:online",       "cpu:teardown",
    "ap:online:idle",   "sched:waitempty", "smpboot/threads:online",
    "workqueue:online", "RCU/tree:online", "online:dyn",
    "sched:active",     "online"};
static_assert(sizeof(kStateNames) / sizeof(kStateNames[0]) == sd_cpuhp_nr_states);

sd_cpuhp_state step(sd_cpuhp_state state, int by) {
  return static_cast<sd_cpuhp_state>(static_cast<int>(state) + by);
}

}  // namespace

void Machine::set_mask_bit(volatile uint64_t* mask, unsigned cpu, bool set) {
  volatile uint64_t* word = mask + cpu / 64;
  const uint64_t bit = 1ull << (cpu % 64);
  // The counter and the event change together with the bit.
  point(OpKind::rmw, word);
  charge_access(word, true);
  const uint64_t old = memory_.rmw(cpu_->id, word, set ? engine::RmwOp::bor : engine::RmwOp::andnot,
                                   bit, 8, engine::Order::relaxed);
  if (mask == online_ && ((old & bit) != 0) != set) {
    num_online_ += set ? 1 : -1u;
    emit(set ? event::cpu_online : event::cpu_offline, nullptr, cpu, 0, "set_cpu_online");
  } else if (mask == active_) {
    emit(event::cpu_active, nullptr, cpu, set, "set_cpu_active");
  }
  wake_parked(word);
}

// ---- callbacks

// What the machine itself does at a state.
int Machine::builtin_step(unsigned id, sd_cpuhp_state state, bool bringup) {
  Cpu& c = cpus_[id];
  switch (state) {
    case sd_cpuhp_ap_active:
      if (bringup) {
        c.balance_push = false;
        set_mask_bit(active_, id, true);
      } else {
        set_mask_bit(active_, id, false);
        c.balance_push = true;
        push_away(c);
        synchronize_rcu("sched_cpu_deactivate");
      }
      return 0;
    case sd_cpuhp_ap_sched_wait_empty:
      if (bringup) return 0;
      push_away(c);
      while (c.pinned > 0) block_on(&c.empty_queue, "sched_cpu_wait_empty");
      return 0;
    case sd_cpuhp_ap_hrtimers_dying:
      if (!bringup) move_timers(c);
      return 0;
    default:
      return 0;
  }
}

// Runs one state's callback; st->state has been moved already.
int Machine::invoke(unsigned cpu, sd_cpuhp_state state, bool bringup) {
  Hotplug::PerCpu& st = hotplug_.cpus[cpu];
  const CpuhpStep& callbacks = steps_table_[state];
  emit(event::hotplug_state, nullptr, cpu, state, bringup ? "cpuhp_up" : "cpuhp_down");
  charge(cost::kHotplugStepNs);
  if (st.fail == state) {
    st.fail = sd_cpuhp_nr_states;
    return -EAGAIN;
  }
  const int result = builtin_step(cpu, state, bringup);
  if (result) return result;
  int (*callback)(unsigned) = bringup ? callbacks.startup : callbacks.teardown;
  return callback ? callback(cpu) : 0;
}

// From the current state to `target`, on the current context; on failure rolls back
// to where it began.
int Machine::walk(unsigned cpu, sd_cpuhp_state target, bool bringup) {
  Hotplug::PerCpu& st = hotplug_.cpus[cpu];
  const sd_cpuhp_state from = st.state;
  while (st.state != target) {
    const sd_cpuhp_state state = bringup ? step(st.state, 1) : st.state;
    st.state = bringup ? state : step(state, -1);
    const int result = invoke(cpu, state, bringup);
    if (!result) continue;
    set_mask_bit(dying_, cpu, bringup);  // from here on it goes the other way
    // The failed state's own opposite callback is not run.
    st.state = bringup ? step(state, -1) : state;
    while (st.state != from) {
      const sd_cpuhp_state back = bringup ? st.state : step(st.state, 1);
      st.state = bringup ? step(back, -1) : back;
      invoke(cpu, back, !bringup);
    }
    return result;
  }
  return 0;
}

// ---- the CPU's own part

void Machine::hotplug_thread(Cpu& c) {
  Hotplug::PerCpu& st = hotplug_.cpus[c.id];
  st.result = walk(c.id, st.target, st.bringup);
  st.thread_done = true;
  wake_waiters(&st.done, ~0u, false);
}

int Machine::run_hotplug_thread(unsigned id, sd_cpuhp_state target, bool bringup) {
  Hotplug::PerCpu& st = hotplug_.cpus[id];
  st.target = target;
  st.bringup = bringup;
  st.thread_done = false;
  wake(cpus_[id].hotplug_thread, false, "cpuhp_kick_ap");
  while (!st.thread_done) block_on(&st.done, "wait_for_ap_thread");
  return st.result;
}

// In the dying CPU's stopper, interrupts off everywhere.
int Machine::take_cpu_down(Cpu& c) {
  Hotplug::PerCpu& st = hotplug_.cpus[c.id];
  if (st.fail == sd_cpuhp_teardown_cpu) {  // __cpu_disable(): no vectors to spare elsewhere
    st.fail = sd_cpuhp_nr_states;
    return -ENOSPC;
  }
  set_mask_bit(online_, c.id, false);
  // Its timers move to another CPU below.
  c.pending = static_cast<uint8_t>(c.pending & ~(1u << sd_vec_timer));
  // The x86 local APIC is shut down: it drops what is pending, and what comes until the CPU is up
  // again. Elsewhere interrupts stay pending.
  c.irq_controller_off = choose(2, Purpose::irq_kept) == 0;
  if (c.irq_controller_off) {
    for (unsigned vector = 0; vector < sd_nr_vectors; ++vector) {
      if (!(c.pending & (1u << vector))) continue;
      c.pending = static_cast<uint8_t>(c.pending & ~(1u << vector));
      emit(event::ipi_lost, nullptr, c.id, vector, "take_cpu_down");
    }
  }
  st.state = sd_cpuhp_ap_online;
  while (st.state != sd_cpuhp_ap_offline) {
    const sd_cpuhp_state state = st.state;
    st.state = step(state, -1);
    const int result = invoke(c.id, state, false);
    if (result) {
      sd_warn(__FILE__, __LINE__, "take_cpu_down", "CPU %u DOWN state %s (%d) failed (%d)", c.id,
              sd_cpuhp_state_name(st.state), st.state, result);
    }
  }
  // stop_machine_park(): what it has accepted so far it does before it sleeps.
  if (!bug(bugs::Bug::h15)) c.stopper_enabled = false;
  return 0;
}

// BP: from TEARDOWN_CPU to a dead CPU; the CPU is unchanged if it refuses.
int Machine::take_down_cpu(unsigned id) {
  Hotplug::PerCpu& st = hotplug_.cpus[id];
  st.dead_reported = false;
  const int result = stop_machine(
      [](void* cpu) {
        Machine& m = get();
        return m.take_cpu_down(*static_cast<Cpu*>(cpu));
      },
      &cpus_[id], id, "take_cpu_down");
  if (result) return result;
  SD_CHECK(!online(id));
  while (!st.dead_reported) block_on(&st.done, "takedown_cpu");
  if (st.state != sd_cpuhp_ap_idle_dead) {
    sd_bug(__FILE__, __LINE__, "takedown_cpu", "CPU %u reports that it is dead in state %s", id,
           sd_cpuhp_state_name(st.state));
  }
  while (cpus_[id].alive) block_on(&st.done, "__cpu_die");
  return 0;
}

// The idle task of a CPU that comes up: its STARTING states with interrupts off, then
// online, then idle.
void Machine::ap_startup(Cpu& c) {
  Hotplug::PerCpu& st = hotplug_.cpus[c.id];
  st.state = sd_cpuhp_ap_offline;
  while (st.state != sd_cpuhp_ap_online) {
    st.state = step(st.state, 1);
    const int result = invoke(c.id, st.state, true);
    if (result) {
      sd_warn(__FILE__, __LINE__, "notify_cpu_starting", "CPU %u UP state %s (%d) failed (%d)",
              c.id, sd_cpuhp_state_name(st.state), st.state, result);
    }
  }
  c.irq_controller_off = false;
  c.stopper_enabled = !bug(bugs::Bug::h14);
  set_mask_bit(online_, c.id, true);
  sd_local_irq_enable("start_secondary");
  st.state = sd_cpuhp_ap_online_idle;
  st.online_idle = true;
  wake_waiters(&st.done, ~0u, false);
  point(OpKind::none, nullptr);
}

// ---- operations

void Machine::lock_hotplug(const char* fn) {
  might_sleep(fn);
  point(OpKind::lock, &hotplug_.add_remove_queue);
  while (hotplug_.add_remove_locked) block_on(&hotplug_.add_remove_queue, fn);
  hotplug_.add_remove_locked = true;
  ++hotplug_.writers_waiting;
  while (hotplug_.readers > 0 || hotplug_.writer) block_on(&hotplug_.lock_queue, fn);
  --hotplug_.writers_waiting;
  hotplug_.writer = true;
  sd_sync_acquire(&hotplug_.lock_queue);
  point(OpKind::none, nullptr);
}

void Machine::unlock_hotplug() {
  point(OpKind::lock, &hotplug_.lock_queue);
  sd_sync_release(&hotplug_.lock_queue);
  hotplug_.writer = false;
  wake_waiters(&hotplug_.lock_queue, ~0u, false);
  hotplug_.add_remove_locked = false;
  wake_waiters(&hotplug_.add_remove_queue, 1, false);
  point(OpKind::none, nullptr);
}

void Machine::cpus_read_lock(const char* fn) {
  might_sleep(fn);
  point(OpKind::lock, &hotplug_.lock_queue);
  while (hotplug_.writer || hotplug_.writers_waiting > 0) block_on(&hotplug_.lock_queue, fn);
  ++hotplug_.readers;
  sd_sync_acquire(&hotplug_.lock_queue);
  emit(event::cpus_read_locked, nullptr, 0, 0, fn);
  point(OpKind::none, nullptr);
}

void Machine::cpus_read_unlock() {
  point(OpKind::lock, &hotplug_.lock_queue);
  emit(event::cpus_read_unlocked, nullptr, 0, 0, "cpus_read_unlock");
  sd_sync_release(&hotplug_.lock_queue);
  if (--hotplug_.readers == 0) wake_waiters(&hotplug_.lock_queue, ~0u, false);
  point(OpKind::none, nullptr);
}

// Draws whether this operation is made to fail, and where: the states that may fail on this path.
void Machine::arm_failure(unsigned cpu, bool bringup) {
  const uint32_t one_in = config_.hotplug_fail;
  if (one_in < 2 || choose(one_in, Purpose::hotplug_fail) != one_in - 1) return;
  // Nothing below TEARDOWN_CPU can fail on the way down, nothing atomic on the way up.
  static constexpr sd_cpuhp_state kUp[] = {
      sd_cpuhp_smpcfd_prepare,      sd_cpuhp_rcutree_prep,
      sd_cpuhp_timers_prepare,      sd_cpuhp_bp_prepare_dyn,
      sd_cpuhp_ap_sched_wait_empty, sd_cpuhp_ap_smpboot_threads,
      sd_cpuhp_ap_workqueue_online, sd_cpuhp_ap_rcutree_online,
      sd_cpuhp_ap_online_dyn,       sd_cpuhp_ap_active};
  static constexpr sd_cpuhp_state kDown[] = {
      sd_cpuhp_ap_active,           sd_cpuhp_ap_online_dyn,      sd_cpuhp_ap_rcutree_online,
      sd_cpuhp_ap_workqueue_online, sd_cpuhp_ap_smpboot_threads, sd_cpuhp_ap_sched_wait_empty,
      sd_cpuhp_teardown_cpu};
  const uint32_t n = bringup ? std::size(kUp) : std::size(kDown);
  const uint32_t at = choose(n, Purpose::hotplug_state);
  hotplug_.cpus[cpu].fail = bringup ? kUp[at] : kDown[at];
}

int Machine::cpu_down(unsigned id, const char* fn) {
  if (id >= config_.cpus) return -EINVAL;
  lock_hotplug(fn);
  Hotplug::PerCpu& st = hotplug_.cpus[id];
  int result = 0;
  if (!online(id)) {
    unlock_hotplug();
    return 0;
  }
  if (num_online_ == 1) {
    unlock_hotplug();
    return -EBUSY;
  }
  arm_failure(id, false);
  emit(event::hotplug_begin, nullptr, id, 0, fn);
  set_mask_bit(dying_, id, true);
  result = run_hotplug_thread(id, sd_cpuhp_teardown_cpu, false);
  if (!result) {
    result = take_down_cpu(id);
    if (result) {
      set_mask_bit(dying_, id, false);
      st.fail = sd_cpuhp_nr_states;
      const int back = run_hotplug_thread(id, sd_cpuhp_online, true);
      SD_CHECK(back == 0);
    } else {
      st.state = sd_cpuhp_bringup_cpu;
      result = walk(id, sd_cpuhp_offline, false);
    }
  }
  st.fail = sd_cpuhp_nr_states;
  ++(result ? hotplug_.failed : hotplug_.offlined);
  emit(event::hotplug_end, nullptr, id, static_cast<uint64_t>(-result), fn);
  unlock_hotplug();
  return result;
}

int Machine::cpu_up(unsigned id, const char* fn) {
  if (id >= config_.cpus) return -EINVAL;
  lock_hotplug(fn);
  Hotplug::PerCpu& st = hotplug_.cpus[id];
  Cpu& c = cpus_[id];
  if (online(id)) {
    unlock_hotplug();
    return 0;
  }
  arm_failure(id, true);
  emit(event::hotplug_begin, nullptr, id, 1, fn);
  set_mask_bit(dying_, id, false);
  int result = walk(id, sd_cpuhp_bp_prepare_dyn, true);
  if (!result) {
    st.state = sd_cpuhp_bringup_cpu;
    st.online_idle = false;
    c.alive = true;
    c.revived = true;
    c.irqs_off = true;
    c.halted = false;
    c.balance_push = true;
    c.time_ns = std::max(c.time_ns, cpu_->time_ns);
    refresh(c);
    point(OpKind::none, nullptr);
    while (!st.online_idle) block_on(&st.done, "bringup_wait_for_ap_online");
    result = run_hotplug_thread(id, sd_cpuhp_online, true);
    if (result) {  // rolled back to AP_ONLINE_IDLE by its own thread; the rest is an offlining
      st.fail = sd_cpuhp_nr_states;
      st.state = sd_cpuhp_teardown_cpu;
      const int down = take_down_cpu(id);
      SD_CHECK(down == 0);
      st.state = sd_cpuhp_bringup_cpu;
      walk(id, sd_cpuhp_offline, false);
    } else if (bug(bugs::Bug::h14)) {
      wake(c.stopper, false, fn);
    }
  }
  st.fail = sd_cpuhp_nr_states;
  ++(result ? hotplug_.failed : hotplug_.onlined);
  emit(event::hotplug_end, nullptr, id, static_cast<uint64_t>(-result), fn);
  unlock_hotplug();
  return result;
}

}  // namespace sd::machine

using sd::machine::Machine;

extern "C" {

const char* sd_cpuhp_state_name(sd_cpuhp_state state) {
  return state < sd_cpuhp_nr_states ? sd::machine::kStateNames[state] : "?";
}

void sd_cpuhp_setup_state(sd_cpuhp_state state, int (*startup)(unsigned),
                          int (*teardown)(unsigned)) {
  Machine::get().steps_table_[state] = {startup, teardown};
}

sd_cpuhp_state sd_cpuhp_get_state(unsigned cpu) {
  return Machine::get().hotplug_.cpus[cpu].state;
}

int sd_cpu_down(unsigned cpu, const char* fn) {
  return Machine::get().cpu_down(cpu, fn);
}
int sd_cpu_up(unsigned cpu, const char* fn) {
  return Machine::get().cpu_up(cpu, fn);
}
void sd_cpus_read_lock(const char* fn) {
  Machine::get().cpus_read_lock(fn);
}
void sd_cpus_read_unlock(const char*) {
  Machine::get().cpus_read_unlock();
}

volatile uint64_t* sd_cpu_online_bits(void) {
  return Machine::get().online_;
}
volatile uint64_t* sd_cpu_active_bits(void) {
  return Machine::get().active_;
}
volatile uint64_t* sd_cpu_dying_bits(void) {
  return Machine::get().dying_;
}
unsigned sd_num_online_cpus(void) {
  return Machine::get().num_online_;
}

int sd_stop_machine(int (*fn)(void*), void* arg, unsigned cpu, const char* name) {
  Machine& m = Machine::get();
  m.cpus_read_lock(name);
  const int result = m.stop_machine(fn, arg, cpu, name);
  m.cpus_read_unlock();
  return result;
}

int sd_stop_two_cpus(unsigned cpu1, unsigned cpu2, int (*fn)(void*), void* arg, const char* name) {
  return Machine::get().stop_two_cpus(cpu1, cpu2, fn, arg, name);
}

void sd_cpuhp_idle_dead(void) {
  Machine& m = Machine::get();
  if (m.gp_running_) m.rcu_passed(m.this_cpu());
  m.hotplug_.cpus[m.cpu_->id].state = sd_cpuhp_ap_idle_dead;
}

void sd_cpuhp_dead_reported(unsigned cpu) {
  Machine& m = Machine::get();
  m.hotplug_.cpus[cpu].dead_reported = true;
  m.wake_waiters(&m.hotplug_.cpus[cpu].done, ~0u, false);
}

}  // extern "C"
