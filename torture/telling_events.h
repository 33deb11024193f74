// Which of the many events at the end of an execution a report shows.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/engine/failure.h"
#include "core/engine/trace.h"
#include "torture/event_words.h"

namespace sd::torture {

// An idle CPU goes round and round, and says so each time.
bool is_idle_loop(std::string_view function);

struct TellingEvents {
  // What the failing task did last, if that is not among the last events; they stand apart.
  std::vector<engine::Event> before;
  std::vector<engine::Event> last;
  size_t left_out = 0;  // between those of `last`: of no interest
};

// The last `count` events without fences, without the idle loop's own (unless the failure is
// there), and without loads but those of csd flags, call queues and CPU masks.
TellingEvents telling_events(const std::vector<engine::Event>& events, size_t count,
                             const EventWords& words, const engine::Failure& failure);

}  // namespace sd::torture
