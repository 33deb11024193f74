// Trace events of the torture (ids 160..191). No decisions, no scheduling points.
#pragma once

#include "core/smp/trace.h"

namespace sd::scf::tp {

inline constexpr smp::tp::id op_begin = 160;  // a = primitive
inline constexpr smp::tp::id op_end = 161;    // a = primitive
inline constexpr smp::tp::id phase = 162;     // a = Phase
inline constexpr smp::tp::id onoff = 163;     // a = cpu, b = 1 up, 0 down; the torture asks for it

enum class Phase : uint8_t { init, run, cleanup, quiesce, check, done };

void register_events();

}  // namespace sd::scf::tp
