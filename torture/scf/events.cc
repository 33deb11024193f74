#include "torture/scf/events.h"

#include "core/engine/trace.h"

namespace sd::scf::tp {

void register_events() {
  using engine::EventFormat;
  using engine::register_event;
  register_event(op_begin, EventFormat{.name = "scf_op_begin", .a = "prim"});
  register_event(op_end, EventFormat{.name = "scf_op_end", .a = "prim"});
  register_event(phase, EventFormat{.name = "scf_phase", .a = "phase"});
  register_event(onoff, EventFormat{.name = "torture_onoff", .a = "cpu", .b = "up"});
}

}  // namespace sd::scf::tp
