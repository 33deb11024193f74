// Timers of sleeping tasks, and deadlines of polling ones.
#include <algorithm>

#include "core/machine/state.h"

namespace sd::machine {

namespace {

bool later(const Machine::Timer& a, const Machine::Timer& b) {
  return a.deadline_ns != b.deadline_ns ? a.deadline_ns > b.deadline_ns : a.number > b.number;
}

}  // namespace

void Machine::arm_timer(sd_task* task, uint64_t deadline_ns) {
  task->timer_deadline = deadline_ns;
  task->timer_number = ++timer_numbers_;
  task->timer_fired = false;
  timers_.push_back(Timer{deadline_ns, task->timer_number, task});
  std::push_heap(timers_.begin(), timers_.end(), later);
  refresh_timer_action();
}

void Machine::cancel_timer(sd_task* task) {
  task->timer_deadline = 0;
  auto it = std::find_if(timers_.begin(), timers_.end(),
                         [task](const Timer& t) { return t.task == task; });
  if (it == timers_.end()) {  // it has expired, and its interrupt is on the way
    for (Cpu& cpu : cpus_) std::erase(cpu.expired, task);
    return;
  }
  *it = timers_.back();
  timers_.pop_back();
  std::make_heap(timers_.begin(), timers_.end(), later);
  refresh_timer_action();
}

// A timer may be chosen to fire before others have reached its time: the CPUs that lag behind are
// slow, as vCPUs are. How far behind is bounded by the configuration.
void Machine::refresh_timer_action() {
  const uint32_t id = timer_action(config_);
  timer_offer_at_ns_ = ~0ull;
  if (timers_.empty()) return actions_.disable(id);
  const uint64_t deadline = timers_.front().deadline_ns;
  if (deadline <= latest_ns_ + config_.timer_lead_ns) {
    actions_.enable(id, engine::ActionClass::disturb, OpKind::none, nullptr);
  } else {
    timer_offer_at_ns_ = deadline - config_.timer_lead_ns;
    actions_.disable(id);
  }
}

void Machine::fire_timer() {
  std::pop_heap(timers_.begin(), timers_.end(), later);
  const Timer timer = timers_.back();
  timers_.pop_back();
  latest_ns_ = std::max(latest_ns_, timer.deadline_ns);
  refresh_timer_action();
  sd_task* task = timer.task;
  Cpu* cpu = &cpus_[task->cpu];
  emit_on(*cpu, event::timer_fire, nullptr, task->id, 0, "");
  if (task->parked) {
    // Deadlines that pass again and again while nobody's wait ends change nothing.
    constexpr uint32_t kFruitless = 200;
    if (++fruitless_deadlines_ > kFruitless) report_hang();
    not_before(task, timer.deadline_ns);
    task->timer_deadline = 0;
    task->timer_fired = true;
    return unpark(task);
  }
  for (unsigned i = 0; !cpu->alive || !online(cpu->id); ++i) cpu = &cpus_[i];
  cpu->expired.push_back(task);
  raise(cpu->id, sd_vec_timer, timer.deadline_ns, false);
  // One interrupt may serve several timers, and not before the last of them.
  cpu->irq_time_ns[sd_vec_timer] = std::max(cpu->irq_time_ns[sd_vec_timer], timer.deadline_ns);
}

void Machine::handle_timer_vector() {
  Cpu& cpu = *cpu_;
  for (size_t i = 0; i < cpu.expired.size(); ++i) {
    sd_task* task = cpu.expired[i];
    if (task->state != sd_task_state::blocked || task->timer_deadline == 0) continue;
    task->timer_fired = true;
    task->timer_deadline = 0;
    wake(task, false, "hrtimer_interrupt");
  }
  cpu.expired.clear();
}

// The CPU is going away with interrupts off: what it had still to handle, another one does.
void Machine::move_timers(Cpu& from) {
  if (from.expired.empty()) return;
  unsigned to = 0;
  while (!online(to) || to == from.id) ++to;
  for (sd_task* task : from.expired) cpus_[to].expired.push_back(task);
  from.expired.clear();
  raise(to, sd_vec_timer, from.time_ns, false);
}

}  // namespace sd::machine
