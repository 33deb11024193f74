// Events of an execution in words.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/engine/trace.h"

namespace sd::torture {

// How things that events mention are called. machine_names() asks the machine, so it is right only
// in the process that ran the execution, and until the next one starts.
struct EventNames {
  std::function<std::string(const volatile void*)> address;
  std::function<std::string(unsigned)> task;
  std::function<std::string(unsigned)> vector;
};
EventNames machine_names();

class EventWords {
 public:
  // `events` tell which memory is a csd.
  EventWords(EventNames names, const std::vector<engine::Event>& events);

  // "store cpu2.csd_data+8 = ASYNC|LOCK"
  std::string text(const engine::Event& event) const;
  std::string task(unsigned id) const { return names_.task(id); }
  // The name of that memory. What is not the machine's has none (""), but for csds on stacks: they
  // are numbered as they are asked for.
  std::string address(const volatile void* p) const;
  bool is_csd_flags(const volatile void* p) const;

 private:
  std::string object(std::string line, const engine::Event& event) const;
  std::string value(const engine::Event& event, uint64_t value) const;
  std::string field(const char* label, uint64_t value, bool is_number) const;

  EventNames names_;
  std::set<const volatile void*> csds_;
  mutable std::map<const volatile void*, size_t> locals_;
};

}  // namespace sd::torture
