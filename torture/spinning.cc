#include "torture/spinning.h"

#include <map>
#include <string_view>
#include <tuple>

#include "torture/telling_events.h"

namespace sd::torture {

std::string busiest_function(const std::vector<engine::Event>& events) {
  struct Count {
    size_t events = 0;
    size_t last = 0;
  };
  std::map<std::string_view, Count> counts;
  for (size_t i = 0; i < events.size(); i++) {
    const std::string_view function = events[i].function == nullptr ? "" : events[i].function;
    if (function.empty()) continue;
    Count& count = counts[function];
    count.events++;
    count.last = i;
  }
  std::string_view best;
  const auto weight = [&](std::string_view function) {
    const Count& count = counts[function];
    return std::make_tuple(!is_idle_loop(function), count.events, count.last);
  };
  for (const auto& [function, count] : counts) {
    if (best.empty() || weight(function) > weight(best)) best = function;
  }
  return std::string(best);
}

}  // namespace sd::torture
