// What oracles over calls keep of each, beside their own: a base for the records of CallStacks.
#pragma once

#include <cstdint>

#include "core/oracle/call_name.h"
#include "core/oracle/oracle.h"
#include "core/smp/trace.h"

namespace sd::oracle {

struct CallRecord {
  uint32_t below = 0;
  uint16_t task = 0;
  bool live = false;

  smp::call_kind kind{};
  bool wait = false;
  bool judged = false;  // called from a legal context
  bool pinned = false;  // its section with preemption off has begun
  bool has_cond = false;
  uint32_t cpu = 0;     // of the section (before it: of the start)
  uint32_t target = 0;  // single, async: as asked for; any: as chosen
};

inline const smp::call_args& args_of(const Event& call_begin) {
  return *static_cast<const smp::call_args*>(const_cast<const void*>(call_begin.obj));
}

// Fills a fresh record.
inline void begin_call(CallRecord& call, const Event& call_begin, const View& view) {
  const smp::call_args& args = args_of(call_begin);
  const bool async = args.kind == smp::call_kind::single_async;
  call.kind = args.kind;
  call.wait = args.wait && !async;
  call.judged =
      async || (view.in_task() && (!view.irqs_disabled() || !view.cpu_online(call_begin.cpu)));
  call.has_cond = args.cond != nullptr;
  call.cpu = call_begin.cpu;
  call.target = args.kind == smp::call_kind::any ? ~0u : static_cast<uint32_t>(args.cpu);
}

inline CallName name_of(const View& view, const CallRecord& call) {
  return {&view, call.kind, call.wait, call.task, call.cpu};
}

}  // namespace sd::oracle
