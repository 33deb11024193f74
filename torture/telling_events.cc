#include "torture/telling_events.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/machine/events.h"

namespace sd::torture {

namespace {

using engine::Event;

class Judge {
 public:
  Judge(const EventWords& words, const engine::Failure& failure)
      : words_(words), idle_matters_(is_idle_loop(failure.function)) {}

  bool tells(const Event& event) const {
    if (event.id == engine::event::fence) return false;
    const std::string_view function = event.function == nullptr ? "" : event.function;
    const bool idle =
        is_idle_loop(function) && event.irq_depth == 0 && event.id != machine::event::idle_halt;
    if (idle && !idle_matters_) return false;
    if (event.id != engine::event::load || words_.is_csd_flags(event.obj)) return true;
    const std::string name = words_.address(event.obj);
    return name.starts_with("cpu_") || name.find("call_single_queue") != std::string::npos;
  }

 private:
  const EventWords& words_;
  const bool idle_matters_;
};

}  // namespace

bool is_idle_loop(std::string_view function) {
  constexpr std::string_view kFunctions[] = {"do_idle", "cpuidle_idle_call", "cpu_idle_poll",
                                             "__current_set_polling", "__current_clr_polling"};
  return std::find(std::begin(kFunctions), std::end(kFunctions), function) != std::end(kFunctions);
}

TellingEvents telling_events(const std::vector<Event>& events, size_t count,
                             const EventWords& words, const engine::Failure& failure) {
  // Enough of the failing task to see what it was at.
  constexpr size_t kOfTask = 4;
  const Judge judge(words, failure);
  TellingEvents out;
  size_t of_task = 0;
  size_t i = events.size();
  const auto is_of_task = [&](const Event& event) {
    return words.task(event.task) == failure.task;
  };
  for (; i > 0 && out.last.size() < count; i--) {
    const Event& event = events[i - 1];
    if (!judge.tells(event)) {
      out.left_out++;
      continue;
    }
    of_task += is_of_task(event) ? 1 : 0;
    out.last.push_back(event);
  }
  for (; i > 0 && of_task < kOfTask; i--) {
    const Event& event = events[i - 1];
    if (!is_of_task(event) || !judge.tells(event)) continue;
    of_task++;
    out.before.push_back(event);
  }
  std::reverse(out.before.begin(), out.before.end());
  std::reverse(out.last.begin(), out.last.end());
  return out;
}

}  // namespace sd::torture
