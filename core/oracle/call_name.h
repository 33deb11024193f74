// How messages name a call: "smp_call_function_single(wait) of scf/1 on CPU 0".
#pragma once

#include <fmt/core.h>

#include <string>

#include "core/oracle/oracle.h"
#include "core/smp/trace.h"

namespace sd::oracle {

const char* call_kind_name(smp::call_kind kind);

struct CallName {
  const View* view;
  smp::call_kind kind;
  bool wait;
  uint32_t task;
  uint32_t cpu;
};

inline std::string text_of(const CallName& name) {
  return fmt::format("{}({}) of {} on CPU {}", call_kind_name(name.kind),
                     name.wait ? "wait" : "no wait", name.view->task_name(name.task), name.cpu);
}

}  // namespace sd::oracle

template <>
struct fmt::formatter<sd::oracle::CallName> : sd::oracle::PlainFormatter<sd::oracle::CallName> {};
