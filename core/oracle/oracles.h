// All oracles, and what a driver does with them: attach them, list them, read their counts, and ask
// them who waits for what when an execution hangs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/engine/trace.h"
#include "core/oracle/completion.h"
#include "core/oracle/queue.h"

namespace sd::oracle {

using Oracles = std::vector<std::unique_ptr<engine::Observer>>;

// A fresh set, to be attached to machine::trace() in this order: where one wrong step violates more
// than one invariant, the first in the order names it.
Oracles make_oracles();

// The counts of function executions that the set keeps; nullptr if it lacks the oracle that counts.
const Completion* completion_of(const Oracles& oracles);

// The call IPIs that the set has counted (S-I24); zeros if it lacks the oracle that counts.
IpiCounts ipis_of(const Oracles& oracles);

// After a hang (S-I59): one line per call in progress, with whom it waits for. May be empty.
std::string describe_hang(const Oracles& oracles);

enum class Cost { every_step, at_return, at_end };
const char* cost_name(Cost cost);

struct OracleInfo {
  const char* id;         // "S-I4"
  const char* observer;   // name() of the observer that reports it
  Cost cost;              // when it is checked
  const char* statement;  // one line
};

// In the order of the ids.
std::span<const OracleInfo> oracle_table();

}  // namespace sd::oracle
