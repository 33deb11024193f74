#include "torture/event_table.h"

#include <fmt/core.h>

#include <algorithm>

namespace sd::torture {

namespace {

using engine::Event;

// All columns together should fit a usual terminal, but a text may run on to the right of its
// column.
size_t column_width(size_t columns) {
  constexpr size_t kWidth = 96;
  constexpr size_t kNarrowest = 10;
  constexpr size_t kWidest = 24;
  return std::clamp(kWidth / columns, kNarrowest, kWidest);
}

std::string trimmed(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

// The CPUs with most events have columns of their own, the rest share the last.
EventTable::EventTable(const EventWords& words, const std::vector<Event>& events, unsigned cpu)
    : words_(words), cpu_(cpu) {
  std::map<unsigned, size_t> count;
  for (const Event& event : events) count[event.cpu]++;
  count[cpu] = events.size() + 1;
  std::vector<std::pair<size_t, unsigned>> order;
  for (const auto& [of_cpu, n] : count) order.emplace_back(n, of_cpu);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  folded_ = order.size() > kColumns;
  if (folded_) order.resize(kColumns - 1);
  for (const auto& [n, of_cpu] : order) shown_.push_back(of_cpu);
  std::sort(shown_.begin(), shown_.end());
  for (const unsigned of_cpu : shown_) titles_.push_back(fmt::format("cpu{}", of_cpu));
  if (folded_) titles_.emplace_back("others");
  width_ = column_width(titles_.size());
}

std::string EventTable::titles() const {
  std::string line = fmt::format("{:>9} {:>12}  ", "step", "time/us");
  for (const std::string& title : titles_) line += fmt::format("{:<{}}", title, width_);
  return trimmed(line) + "\n";
}

std::string EventTable::rows(const std::vector<Event>& events) {
  std::string out;
  for (const Event& event : events) {
    const size_t column = column_of(event.cpu);
    std::string text;
    if (column == shown_.size()) text += fmt::format("cpu{}: ", event.cpu);
    for (unsigned i = 0; i < event.irq_depth; i++) text += "[irq] ";
    text += words_.text(event);
    if (event.function != nullptr && event.function[0] != '\0') {
      text += fmt::format("  ({})", event.function);
    }
    const auto [last, is_new] = last_task_.try_emplace(event.cpu, event.task);
    if (is_new || last->second != event.task) text += "  <" + words_.task(event.task) + ">";
    last->second = event.task;
    out += fmt::format("{:>9} {:>12.3f}  {}\n", event.step,
                       static_cast<double>(event.time_ns) / 1000, row(column, text));
  }
  return out;
}

std::string EventTable::marker(const std::string& text) const {
  return fmt::format("{:>9} {:>12}  {}\n", "", "", row(column_of(cpu_), text));
}

size_t EventTable::column_of(unsigned cpu) const {
  return static_cast<size_t>(std::find(shown_.begin(), shown_.end(), cpu) - shown_.begin());
}

// `text` in its column, bars where the other columns begin.
std::string EventTable::row(size_t column, const std::string& text) const {
  std::string line;
  for (size_t i = 0; i < titles_.size(); i++) {
    line += '|';
    line.append(width_ - 1, ' ');
  }
  const size_t at = column * width_;
  if (line.size() < at + text.size() + 1) line.resize(at + text.size() + 1, ' ');
  line.replace(at, text.size(), text);
  line[at + text.size()] = ' ';
  return trimmed(line);
}

}  // namespace sd::torture
