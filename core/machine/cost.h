// What an operation costs in virtual nanoseconds, in one table. Plausible figures of a two-socket
// x86 server, meant for ratios: an access to a line that this CPU used last is a cache hit,
// otherwise the line comes from where its last user sits.
#pragma once

#include <cstdint>

namespace sd::machine::cost {

inline constexpr uint64_t kInstructionNs = 1;  // an operation that touches no memory of others
// Last user: same CPU, SMT sibling, same node, other node.
inline constexpr uint64_t kLineNs[4] = {1, 8, 45, 130};
inline constexpr uint64_t kStackLineNs = 2;  // a line of a task's stack: always near enough
inline constexpr uint64_t kAtomicNs = 6;     // on top of the line, for a read-modify-write
inline constexpr uint64_t kFenceNs = 8;
inline constexpr uint64_t kIpiSendNs = 60;  // the register write
// Until the handler starts, by distance.
inline constexpr uint64_t kIpiLatencyNs[4] = {200, 600, 900, 1500};
inline constexpr uint64_t kIrqEntryNs = 250;
inline constexpr uint64_t kIrqExitNs = 120;
inline constexpr uint64_t kSwitchNs = 900;          // a context switch
inline constexpr uint64_t kHaltWakeNs = 1500;       // out of a halt
inline constexpr uint64_t kHotplugStepNs = 20'000;  // a cpuhp callback of the machine itself

}  // namespace sd::machine::cost
