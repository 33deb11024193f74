// Names for things: addresses, tasks, who waits for what.
#include "core/machine/machine.h"
#include "core/machine/state.h"

namespace sd::machine {

using engine::Failure;
using engine::FailureKind;

namespace {

constexpr const char* kVectorNames[] = {"call-function-single", "call-function", "irq-work",
                                        "reschedule", "timer"};
static_assert(sizeof(kVectorNames) / sizeof(kVectorNames[0]) == sd_nr_vectors);

std::string plus(const std::string& name, size_t offset) {
  return offset ? name + "+" + std::to_string(offset) : name;
}

}  // namespace

std::string Machine::describe(const volatile void* p) const {
  if (!p) return "null";
  const size_t offset = space_.offset_of(p);
  if (space_.in_heap(offset)) {
    const engine::Heap::Object* object = heap_.find(p);
    if (!object) return "the heap, never allocated";
    return plus("heap:" + std::string(object->tag) + "#" + std::to_string(heap_.number_of(object)),
                offset - object->offset);
  }
  if (offset < engine::Space::size()) {
    if (space_.in_areas(offset)) {
      const size_t in_areas = offset - engine::Space::kGlobalsSize;
      const std::string cpu = "cpu" + std::to_string(in_areas / engine::Space::kAreaSize) + ".";
      const size_t at = in_areas % engine::Space::kAreaSize;
      const Reservation* variable = percpu_layout().find(at);
      return variable ? plus(cpu + variable->name, at - variable->offset) : cpu + "?";
    }
    const auto* word = reinterpret_cast<const volatile char*>(task_flags_);
    const auto* q = static_cast<const volatile char*>(p);
    if (q >= word) {
      const size_t id = static_cast<size_t>(q - word) / engine::kCacheLine;
      return "flags of " + std::string(task_name(static_cast<unsigned>(id)));
    }
    const Reservation* variable = global_layout().find(offset);
    if (!variable) return "globals?";
    const std::string name = variable->name;
    if (name == "cpu masks") {
      constexpr size_t kMaskBytes = kMaxCpus / 8;
      static constexpr const char* kMasks[] = {"cpu_online_mask", "cpu_active_mask",
                                               "cpu_dying_mask"};
      return plus(kMasks[(offset - variable->offset) / kMaskBytes],
                  (offset - variable->offset) % kMaskBytes);
    }
    return plus(name, offset - variable->offset);
  }
  const engine::Fiber* fiber = fibers_->owner_of(p);
  for (uint32_t i = 0; fiber && i < tasks_used_; ++i) {
    if (task_pool_[i]->fiber == fiber) return "stack of " + std::string(task_pool_[i]->name);
  }
  for (uint32_t i = 0; i < tasks_used_; ++i) {
    const auto* task = reinterpret_cast<const volatile char*>(task_pool_[i].get());
    const auto* q = static_cast<const volatile char*>(p);
    if (q >= task && q < task + sizeof(sd_task)) return "task " + std::string(task_pool_[i]->name);
  }
  return "memory of the program";
}

std::string Machine::describe_waiters() const {
  std::string text;
  for (uint32_t i = 0; i < tasks_used_; ++i) {
    const sd_task& task = *task_pool_[i];
    const bool current = cpus_[task.cpu].current == &task;
    const bool idle = task.sched_class == sd_task_class::idle;
    std::string line;
    if (task.parked) {
      line = std::string(current ? "polls" : "is preempted polling") + " in " + task.wait_function +
             " for " + describe(task.park_addr) + " to change from " +
             std::to_string(task.park_old);
    } else if (task.state == sd_task_state::blocked && !task.daemon) {
      line = std::string("sleeps in ") + task.wait_function + " for " + task.wait_for;
    } else if (task.state == sd_task_state::waking) {
      line = "is being woken through the call queue of CPU " + std::to_string(task.cpu);
    } else if (task.state == sd_task_state::runnable) {
      line = "waits for CPU " + std::to_string(task.cpu);
    } else if (current && !idle && cpus_[task.cpu].alive) {
      line = "runs";
    } else {
      continue;
    }
    if (idle) continue;
    const Cpu& cpu = cpus_[task.cpu];
    text += std::string(task.name) + " (CPU " + std::to_string(task.cpu) + ") " + line;
    if (current && cpu.irqs_off) text += ", interrupts off";
    if (current && task.preempt_count) text += ", preemption off";
    text += "\n";
  }
  for (const Cpu& cpu : cpus_) {
    if (!cpu.alive) text += "CPU " + std::to_string(cpu.id) + " is offline\n";
    for (unsigned vector = 0; vector < sd_nr_vectors; ++vector) {
      if (!(cpu.pending & (1u << vector))) continue;
      text += "CPU " + std::to_string(cpu.id) + " has " + kVectorNames[vector] + " pending" +
              (cpu.irqs_off ? ", with interrupts off\n" : "\n");
    }
  }
  return text;
}

Failure Machine::failure_here(FailureKind kind, const char* id, const char* fn) const {
  Failure failure;
  failure.kind = kind;
  failure.id = id;
  failure.function = fn;
  failure.cpu = cpu_->id;
  failure.task = cpu_->current->name;
  failure.step = steps_;
  failure.time_ns = cpu_->time_ns;
  return failure;
}

engine::Site Machine::site(const char* fn) const {
  return engine::Site{fn, steps_, static_cast<uint16_t>(cpu_->id), cpu_->current->id};
}

void Machine::printk(const char* text) {
  if (log_.size() == kLogLines) log_.erase(log_.begin());
  log_.emplace_back(text);
  emit(event::printk, nullptr, __builtin_strlen(text), 0, "printk");
}

std::string describe_address(const volatile void* p) {
  return Machine::get().describe(p);
}
const std::vector<std::string>& kernel_log() {
  return Machine::get().log_;
}

const char* task_name(unsigned id) {
  const Machine& m = Machine::get();
  return id < m.tasks_used_ ? m.task_pool_[id]->name : "?";
}

bool task_is_idle(unsigned id) {
  const Machine& m = Machine::get();
  return id < m.tasks_used_ && m.task_pool_[id]->sched_class == sd_task_class::idle;
}

bool percpu_of(const volatile void* p, size_t* offset, unsigned* cpu) {
  const Machine& m = Machine::get();
  const size_t at = m.space_.offset_of(p);
  if (!m.space_.in_areas(at)) return false;
  *offset = (at - engine::Space::kGlobalsSize) % engine::Space::kAreaSize;
  *cpu = static_cast<unsigned>((at - engine::Space::kGlobalsSize) / engine::Space::kAreaSize);
  return true;
}

const char* vector_name(unsigned vector) {
  return vector < sd_nr_vectors ? kVectorNames[vector] : "?";
}

}  // namespace sd::machine
