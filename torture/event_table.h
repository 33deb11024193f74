// The last events of an execution as text: one line per event, one column per vCPU, so that the
// interleaving is seen and not read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/engine/trace.h"

namespace sd::torture {

// How things that events mention are called. machine_names() asks the machine, so it is right only in
// the process that ran the execution, and until the next one starts.
struct EventNames {
  std::function<std::string(const volatile void*)> address;
  std::function<std::string(unsigned)> task;
  std::function<std::string(unsigned)> vector;
};
EventNames machine_names();

struct EventTable {
  static constexpr unsigned kColumns = 8;  // more CPUs share the last column

  // `marker` stands in the column of `cpu` under the last event: what failed there.
  std::string render(const std::vector<engine::Event>& events, unsigned cpu,
                     const std::string& marker) const;

  EventNames names;
};

// The last `count` events that tell what happened: without fences, and without loads but those of csd
// flags, call queues and CPU masks. *left_out is how many others lie between them.
std::vector<engine::Event> telling_events(const std::vector<engine::Event>& events, size_t count,
                                          const EventNames& names, size_t* left_out);

}  // namespace sd::torture
