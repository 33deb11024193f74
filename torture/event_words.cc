#include "torture/event_words.h"

#include <fmt/core.h>

#include <cstddef>
#include <string_view>

#include "core/machine/events.h"
#include "core/machine/machine.h"
#include "core/smp/trace.h"
#include "torture/scf/scf.h"

namespace sd::torture {

namespace {

using engine::Event;
using engine::EventFormat;
using engine::EventId;
namespace memory_event = engine::event;
namespace tp = smp::tp;

constexpr size_t kFlagsOffset =
    offsetof(smp::call_single_data_t, node) + offsetof(smp::__call_single_node, u_flags);

// "LOCK|SYNC" for the flags word of a csd.
std::string flags_text(uint64_t flags) {
  const char* type = nullptr;
  switch (flags & smp::CSD_FLAG_TYPE_MASK) {
    case smp::CSD_TYPE_ASYNC:
      type = "ASYNC";
      break;
    case smp::CSD_TYPE_SYNC:
      type = "SYNC";
      break;
    case smp::CSD_TYPE_IRQ_WORK:
      type = "IRQ_WORK";
      break;
    case smp::CSD_TYPE_TTWU:
      type = "TTWU";
      break;
    default:
      return fmt::format("{:#x}", flags);
  }
  std::string text = type;
  if ((flags & smp::CSD_FLAG_TYPE_MASK) == smp::CSD_TYPE_IRQ_WORK) {
    if ((flags & smp::IRQ_WORK_PENDING) != 0) text += "|PENDING";
    if ((flags & smp::IRQ_WORK_BUSY) != 0) text += "|BUSY";
  } else if ((flags & smp::CSD_FLAG_LOCK) != 0) {
    text += "|LOCK";
  }
  return text;
}

std::string number_text(uint64_t value) {
  // Negative errno values and other small negative numbers come as wide unsigned ones.
  constexpr uint64_t kSmall = 4096;
  if (const auto low = static_cast<int32_t>(value); value >> 32 == 0 && low < 0 && low > -4096) {
    return fmt::format("{}", low);
  }
  if (value >= ~uint64_t{0} - kSmall) return fmt::format("{}", static_cast<int64_t>(value));
  return value < 1'000'000 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

bool is_csd_event(EventId id) {
  return (id >= tp::csd_lock_begin && id <= tp::csd_wait_end) || id == tp::csd_unlink ||
         id == tp::func_entry || id == tp::func_exit || id == tp::csd_stuck;
}

// The csds, as the events tell.
std::set<const volatile void*> csds_of(const std::vector<Event>& events) {
  std::set<const volatile void*> csds;
  for (const Event& event : events) {
    if (is_csd_event(event.id) && event.obj != nullptr) csds.insert(event.obj);
  }
  return csds;
}

template <size_t n>
std::string one_of(const char* const (&names)[n], uint64_t value) {
  return value < n ? names[value] : number_text(value);
}

constexpr const char* kFences[] = {"smp_mb", "smp_rmb", "smp_wmb", "smp_acquire__after_ctrl_dep",
                                   "barrier"};
constexpr const char* kCalls[] = {"single", "single_async", "any", "many", "on_cpu"};

std::string prim_text(uint64_t prim) {
  if (prim >= scf::kPrims) return number_text(prim);
  const std::string weight = scf::prim_weight_name(static_cast<scf::Prim>(prim));
  return weight.substr(weight.find('_') + 1);
}

}  // namespace

EventNames machine_names() {
  EventNames names;
  names.address = [](const volatile void* p) { return machine::describe_address(p); };
  names.task = [](unsigned task) { return std::string(machine::task_name(task)); };
  names.vector = [](unsigned vector) { return std::string(machine::vector_name(vector)); };
  return names;
}

EventWords::EventWords(EventNames names, const std::vector<Event>& events)
    : names_(std::move(names)), csds_(csds_of(events)) {}

std::string EventWords::text(const Event& event) const {
  const EventFormat& format = engine::event_format(event.id);
  switch (event.id) {
    case memory_event::fence:
      return one_of(kFences, event.a);
    case machine::event::sched_switch:
      return fmt::format("switch to {}", names_.task(static_cast<unsigned>(event.b)));
    case memory_event::load:
      return fmt::format("{} is {}", object("load", event), value(event, event.a));
    case memory_event::store:
      return fmt::format("{} = {}", object("store", event), value(event, event.a));
    case memory_event::rmw:
      return fmt::format("{}: {} -> {}", object("rmw", event), value(event, event.a),
                         value(event, event.b));
    case memory_event::cmpxchg_fail:
      return fmt::format("{} is {}, not {}", object("cmpxchg", event), value(event, event.a),
                         value(event, event.b));
    default:
      break;
  }
  std::string line =
      object(format.name == nullptr ? fmt::format("event {}", event.id) : format.name, event);
  if (format.a != nullptr) line += field(format.a, event.a, format.hash_a);
  if (format.b != nullptr) line += field(format.b, event.b, format.hash_b);
  return line;
}

std::string EventWords::address(const volatile void* p) const {
  std::string name = names_.address(p);
  if (name != "memory of the program") return name;
  if (is_csd_flags(p)) {
    return address(static_cast<const volatile char*>(p) - kFlagsOffset) + "+" +
           std::to_string(kFlagsOffset);
  }
  if (!csds_.contains(p)) return {};
  const size_t next = locals_.size() + 1;
  return "local csd#" + std::to_string(locals_.try_emplace(p, next).first->second);
}

bool EventWords::is_csd_flags(const volatile void* p) const {
  return csds_.contains(static_cast<const volatile char*>(p) - kFlagsOffset);
}

std::string EventWords::object(std::string line, const Event& event) const {
  if (event.obj == nullptr) return line;
  const std::string name = address(event.obj);
  return name.empty() ? line : line + " " + name;
}

std::string EventWords::value(const Event& event, uint64_t value) const {
  if (is_csd_flags(event.obj)) return flags_text(value);
  // A pointer differs from process to process; its name does not.
  constexpr uint64_t kLowestPointer = uint64_t{1} << 40;
  constexpr uint64_t kHighestPointer = uint64_t{1} << 47;
  if (value < kLowestPointer || value >= kHighestPointer) return number_text(value);
  const std::string name = address(reinterpret_cast<const void*>(value));
  return name.empty() ? "a pointer" : "&" + name;
}

// The label of a field says what kind of number it holds.
std::string EventWords::field(const char* name, uint64_t value, bool is_number) const {
  const std::string_view label = name;
  if (label == "prim") return " " + prim_text(value);
  if (label == "kind") return " " + one_of(kCalls, value);
  if (label == "state") {
    return fmt::format(" {}", sd_cpuhp_state_name(static_cast<sd_cpuhp_state>(value)));
  }
  if (label == "wait") return value != 0 ? " and wait" : "";
  if (label == "task") return fmt::format(" {}", names_.task(static_cast<unsigned>(value)));
  if (label.ends_with("task")) {
    return fmt::format(" {}={}", label, names_.task(static_cast<unsigned>(value)));
  }
  if (label == "vector") return fmt::format(" {}", names_.vector(static_cast<unsigned>(value)));
  if (label.ends_with("CPU")) return fmt::format(" {} {}", label, value);
  if (label == "cpu") return fmt::format(" cpu{}", value);
  if (label == "flags" || label == "type") return fmt::format(" {}", flags_text(value));
  if (!is_number) {  // a pointer
    const std::string what = value == 0 ? "NULL" : address(reinterpret_cast<const void*>(value));
    return what.empty() ? std::string() : fmt::format(" {}={}", label, what);
  }
  return fmt::format(" {}={}", label, number_text(value));
}

}  // namespace sd::torture
