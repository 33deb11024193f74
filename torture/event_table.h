// The last events of an execution as text: one line per event, one column per vCPU, so that the
// interleaving is seen and not read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/engine/trace.h"
#include "torture/event_words.h"

namespace sd::torture {

class EventTable {
 public:
  static constexpr unsigned kColumns = 8;  // more CPUs share the last column

  // Shows the events that rows() will be called with; `cpu` has a column of its own.
  EventTable(const EventWords& words, const std::vector<engine::Event>& events, unsigned cpu);

  std::string titles() const;
  std::string rows(const std::vector<engine::Event>& events);
  // A text in the column of `cpu`, under the events: what failed there.
  std::string marker(const std::string& text) const;

 private:
  size_t column_of(unsigned cpu) const;
  std::string row(size_t column, const std::string& text) const;

  const EventWords& words_;
  unsigned cpu_;
  size_t width_ = 0;
  bool folded_ = false;
  std::vector<std::string> titles_;
  std::vector<unsigned> shown_;             // CPUs with a column of their own
  std::map<unsigned, unsigned> last_task_;  // by CPU: whose events were shown last
};

}  // namespace sd::torture
