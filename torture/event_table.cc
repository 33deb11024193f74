#include "torture/event_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
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

// The words of memory that are flags of a csd, as the events around tell.
std::set<const volatile void*> csd_flags(const std::vector<Event>& events) {
  std::set<const volatile void*> flags;
  for (const Event& event : events) {
    if (!is_csd_event(event.id) || event.obj == nullptr) continue;
    flags.insert(static_cast<const volatile char*>(event.obj) + kFlagsOffset);
  }
  return flags;
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

// Puts events into words.
class Words {
 public:
  Words(const EventNames& names, const std::vector<Event>& events)
      : names_(names), flags_(csd_flags(events)) {}

  std::string text(const Event& event) const {
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

 private:
  // What is not the machine's memory has no name worth a place.
  std::string address(const volatile void* p) const {
    std::string name = names_.address(p);
    return name == "memory of the program" ? std::string() : name;
  }

  std::string object(std::string line, const Event& event) const {
    if (event.obj == nullptr) return line;
    const std::string name = address(event.obj);
    return name.empty() ? line : line + " " + name;
  }

  std::string value(const Event& event, uint64_t value) const {
    if (flags_.contains(event.obj)) return flags_text(value);
    // A pointer differs from process to process; its name does not.
    constexpr uint64_t kLowestPointer = uint64_t{1} << 40;
    constexpr uint64_t kHighestPointer = uint64_t{1} << 47;
    if (value < kLowestPointer || value >= kHighestPointer) return number_text(value);
    const std::string name = address(reinterpret_cast<const void*>(value));
    return name.empty() ? "a pointer" : "&" + name;
  }

  // The label of a field says what kind of number it holds.
  std::string field(std::string_view label, uint64_t value, bool is_number) const {
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
      const std::string name = value == 0 ? "NULL" : address(reinterpret_cast<const void*>(value));
      return name.empty() ? std::string() : fmt::format(" {}={}", label, name);
    }
    return fmt::format(" {}={}", label, number_text(value));
  }

  const EventNames& names_;
  std::set<const volatile void*> flags_;
};

// Which column shows which CPU. The CPUs with most events have their own, the rest share the last.
struct Columns {
  std::map<unsigned, size_t> column;
  std::vector<std::string> titles;
  bool folded = false;

  Columns(const std::vector<Event>& events, unsigned failed_cpu) {
    std::map<unsigned, size_t> count;
    count[failed_cpu] = events.size() + 1;
    for (const Event& event : events) count[event.cpu]++;
    std::vector<std::pair<size_t, unsigned>> order;
    for (const auto& [cpu, n] : count) order.emplace_back(n, cpu);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    folded = order.size() > EventTable::kColumns;
    if (folded) order.resize(EventTable::kColumns - 1);
    std::vector<unsigned> shown;
    for (const auto& [n, cpu] : order) shown.push_back(cpu);
    std::sort(shown.begin(), shown.end());
    for (const unsigned cpu : shown) {
      column[cpu] = titles.size();
      titles.push_back(fmt::format("cpu{}", cpu));
    }
    if (folded) titles.push_back("others");
  }

  size_t of(unsigned cpu) const {
    const auto at = column.find(cpu);
    return at == column.end() ? titles.size() - 1 : at->second;
  }
};

// All columns together should fit a usual terminal, but a text may run on to the right of its column.
size_t column_width(size_t columns) {
  constexpr size_t kWidth = 96;
  constexpr size_t kNarrowest = 10;
  constexpr size_t kWidest = 24;
  return std::clamp(kWidth / columns, kNarrowest, kWidest);
}

// `text` in its column, bars where the other columns begin.
std::string row(size_t column, size_t columns, size_t width, const std::string& text) {
  std::string line;
  for (size_t i = 0; i < columns; i++) {
    line += '|';
    line.append(width - 1, ' ');
  }
  const size_t at = column * width;
  if (line.size() < at + text.size() + 1) line.resize(at + text.size() + 1, ' ');
  line.replace(at, text.size(), text);
  line[at + text.size()] = ' ';
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

EventNames machine_names() {
  EventNames names;
  names.address = [](const volatile void* p) { return machine::describe_address(p); };
  names.task = [](unsigned task) { return std::string(machine::task_name(task)); };
  names.vector = [](unsigned vector) { return std::string(machine::vector_name(vector)); };
  return names;
}

std::vector<Event> telling_events(const std::vector<Event>& events, size_t count,
                                  const EventNames& names, size_t* left_out) {
  const std::set<const volatile void*> flags = csd_flags(events);
  const auto tells = [&](const Event& event) {
    if (event.id == memory_event::fence) return false;
    if (event.id != memory_event::load || flags.contains(event.obj)) return true;
    const std::string name = names.address(event.obj);
    return name.starts_with("cpu_") || name.find("call_single_queue") != std::string::npos;
  };
  std::vector<Event> out;
  *left_out = 0;
  for (size_t i = events.size(); i-- > 0 && out.size() < count;) {
    if (tells(events[i])) {
      out.push_back(events[i]);
    } else {
      ++*left_out;
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::string EventTable::render(const std::vector<Event>& events, unsigned cpu,
                               const std::string& marker) const {
  const Columns columns(events, cpu);
  const Words words(names, events);
  const size_t n = columns.titles.size();
  const size_t width = column_width(n);

  std::string titles;
  for (const std::string& title : columns.titles) titles += fmt::format("{:<{}}", title, width);
  while (titles.ends_with(' ')) titles.pop_back();
  std::string out = fmt::format("{:>9} {:>12}  {}\n", "step", "time/us", titles);

  std::map<unsigned, unsigned> task_on;  // by CPU: whose events its column shows at present
  for (const Event& event : events) {
    const size_t column = columns.of(event.cpu);
    std::string text;
    if (columns.folded && column + 1 == n) text += fmt::format("cpu{}: ", event.cpu);
    for (unsigned i = 0; i < event.irq_depth; i++) text += "[irq] ";
    text += words.text(event);
    if (event.function != nullptr && event.function[0] != '\0') {
      text += fmt::format("  ({})", event.function);
    }
    const auto [at, is_new] = task_on.try_emplace(event.cpu, event.task);
    if (is_new || at->second != event.task) text += fmt::format("  <{}>", names.task(event.task));
    at->second = event.task;
    out += fmt::format("{:>9} {:>12.3f}  {}\n", event.step,
                       static_cast<double>(event.time_ns) / 1000, row(column, n, width, text));
  }
  if (!marker.empty()) {
    out += fmt::format("{:>9} {:>12}  {}\n", "", "", row(columns.of(cpu), n, width, marker));
  }
  return out;
}

}  // namespace sd::torture
