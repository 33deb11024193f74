// How messages name a call: "smp_call_function_single(wait) of scf/1 on CPU 0".
#pragma once

#include <fmt/core.h>

#include <string>

#include "core/oracle/view.h"
#include "core/smp/trace.h"

namespace sd::oracle {

const char* call_kind_name(smp::call_kind kind);

struct CallName {
  const View* view;
  smp::call_kind kind;
  bool wait;
  uint32_t task;
  uint32_t cpu;

  std::string text() const {
    return fmt::format("{}({}) of {} on CPU {}", call_kind_name(kind), wait ? "wait" : "no wait",
                       view->task_name(task), cpu);
  }
};

}  // namespace sd::oracle

template <>
struct fmt::formatter<sd::oracle::CallName> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const sd::oracle::CallName& name, Context& context) const {
    return fmt::formatter<std::string>::format(name.text(), context);
  }
};
