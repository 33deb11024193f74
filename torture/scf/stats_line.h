// The lines that scftorture prints, exactly, so that scripts which read a kernel's console read
// ours. Pure functions; each writes one line, with its newline, into the caller's buffer and
// returns its length.
#pragma once

#include <cstddef>

#include "torture/scf/scf.h"
#include "torture/scf/selector.h"

namespace sd::scf {

// Long enough for any of these lines.
inline constexpr size_t kLineSize = 1024;

// What a run comes to. A failure weighs more than a failed hotplug operation.
enum class Verdict : uint8_t { success, failure, lock_hotplug };
// By the torture's own counters alone (S-I56); a failure that something else saw is the driver's
// to add.
Verdict verdict(const ScfStats& stats);
// "SUCCESS", "FAILURE", "LOCK_HOTPLUG".
const char* verdict_name(Verdict verdict);

// "scftorture:  scf_invoked_count ver: ..."; is_final prints VER.
int format_stats(char* line, size_t size, const ScfStats& stats, bool is_final);
// The primitives that scftorture has not, in the same manner: "scftorture:  any: ...".
int format_extra_stats(char* line, size_t size, const ScfStats& stats);
// The part of format_stats about hotplug, without a newline: "onoff: ... ".
int format_onoff(char* line, size_t size, const ScfStats& stats);

// "scftorture: --- TAG:  verbose=..."; tag is "Start of test" or "End of test: SUCCESS".
int format_parameters(char* line, size_t size, const char* tag, const ScfParams& params);
// "torture module --- scftorture:  disable_onoff_at_boot=..."
int format_module_parameters(char* line, size_t size, const ScfParams& params);
// Entry i of the table: "scf_sel_dump:  12.345 smp_call_function_single(wait)".
int format_selector_entry(char* line, size_t size, const Selector& selector, unsigned i);

// Adds up executions.
ScfStats& operator+=(ScfStats& sum, const ScfStats& one);

}  // namespace sd::scf
