// The bug bank: every bug that can be switched into the stack or the torture, with its origin, the
// smallest machine that shows it, and which oracle must see it. A bug is one branch, at one place;
// a missing prerequisite of the series needs no branch at all, only a set of patches.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/series/series.h"

namespace sd::bugs {

using BugSet = std::bitset<128>;

// Values are bit numbers of a BugSet, in the order of the bank; files name bugs by their ids.
enum class Bug : uint8_t {
  canary,
  // Historic bugs and bugs that the kernel's own comments and the series' texts warn of.
  h01,
  h02,
  h03,
  h04,
  h05,
  h06,
  h07,
  h08,
  h09,
  h10,
  h11,
  h12,  // the branch is in torture/scf
  h13,
  h14,  // the branches of this one and the next two are in core/machine
  h15,
  h16,
  h17,
  h18,
  h39,
  h42,
  // Mutants: one wrong step each, so that every oracle has something to see.
  p02_put_before_exec,
  p06_put_before_send,
  sync_unlock_before,
  type_read_after_unlock,
  csd_lock_no_wait,
  local_double_unlock,
  sync_flag_after_add,
  mask_ipi_misses_last,
  polling_not_tested,
  polling_flush_early,
  flush_drops_async,
  flush_no_reverse,
  flush_irqs_on,
  enxio_although_queued,
  enxio_when_inactive,
  enxio_leaks_preempt,
  no_online_check,
  snapshot_active,
  many_includes_self,
  cond_asked_twice,
  async_no_busy_check,
  dying_flush_in_idle,
  dying_no_irq_work,
  prepare_leaks_mask,
  task_mask_shared_after_fork,
  maskless_tasks,
  no_acquire_in_wait,
  relaxed_llist_add,
  polling_no_mb,
  kick_no_mb,
  p02_put_after_wait,
  irqwork_to_dead,  // the branch is in torture/scf
  dead_leaks_mask,
  // Quirks of the real code: what it does, and should not. Off in all clean runs.
  dbg_shared_csd,
  any_numa_inactive,
  // Quirks and bugs of the torture itself; their branches are in torture/scf.
  scfc_in_uninit,
  scf_inverted_gate,
  scf_many_unpinned,
  count_  // number of bugs, not one
};

enum class Kind : uint8_t {
  canary,    // must be found at once, else the search is broken
  historic,  // was in a kernel, or is named by the kernel as what the code avoids
  subset,    // a patch without its prerequisite
  mutant,    // a wrong step of our own
  quirk,     // questionable behaviour of the real code
};
const char* kind_name(Kind kind);

enum class Memory : uint8_t { sc, tso, lkmm };  // weakest machine needed, from strong to weak

// The smallest machine that shows a bug.
struct Needs {
  unsigned cpus = 2;
  unsigned tasks = 1;  // calling at the same time
  bool hotplug = false;
  bool preempt = false;  // CONFIG_PREEMPT
  bool polling = false;  // idle CPUs poll
  bool csdlock_debug = false;
  bool allocated_masks = false;  // task masks on the heap
  bool alloc_fail = false;
  bool cpus_read_lock = false;  // held by the torture around its operations
  bool swaps = false;           // tasks that stop two CPUs at a time
  bool slow_handlers = false;   // some take seconds; csd debugging complains after a millisecond
  bool lone = false;            // one CPU of no more than `cpus` is online at first
  bool softirqs = false;        // handlers raise them
  bool global_queue = false;    // the multi-CPU calls of 2.6.38
  bool irq_work_from_tick = false;
  Memory memory = Memory::sc;
  const char* calls = "";  // which calls show it
};

struct BugInfo {
  Bug bug;
  const char* id;     // "H10", "M03": what a user types
  const char* slug;   // "cfd-mask-overwritten"
  const char* alias;  // another name in use, or ""
  Kind kind;
  const char* title;
  const char* origin;
  const char* mechanism;
  // What the bug is made of, or without which its branch is not reached.
  series::PatchSet forced_on = {};
  series::PatchSet forced_off = {};
  Needs needs = {};
  // Ids of the failures that find it, the main one first.
  std::vector<std::string_view> expected = {};
};

// All bugs, in the order of their numbers.
std::span<const BugInfo> all();
const BugInfo& info(Bug bug);
// By id, slug or alias, in any case, '-' and '_' being the same; nullptr: there is none.
const BugInfo* find(std::string_view name);
// Whether a failure of this id finds the bug. To "use-after-free" belongs what AddressSanitizer
// says of plain accesses to freed memory, which the machine does not see.
bool finds(const BugInfo& bug, std::string_view failure);

inline BugSet bit(Bug bug) {
  return BugSet{}.set(static_cast<unsigned>(bug));
}
inline bool has(const BugSet& set, Bug bug) {
  return set.test(static_cast<unsigned>(bug));
}

// `patches` as the bugs need them.
series::PatchSet with_forced(series::PatchSet patches, const BugSet& bugs);

}  // namespace sd::bugs
