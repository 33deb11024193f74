// Behaviour of the real code that is questionable; each is a switch, so that a clean series is
// clean.
#include "core/bugs/bank.h"

namespace sd::bugs::bank {

std::vector<BugInfo> quirks() {
  return {
      {.bug = Bug::dbg_shared_csd,
       .id = "Q01",
       .slug = "dbg-shared-csd",
       .alias = "",
       .kind = Kind::quirk,
       .title = "with csdlock_debug all callers of one target share one csd",
       .origin = "Linux 7.1, b0473dcd4b1d",
       .mechanism =
           "With the debugging on, a no-wait single-CPU call uses the csd of the target CPU. "
           "csd_lock() is no test-and-set, so two callers may both lock it and queue it "
           "twice. Out of range targets, which the real code indexes with too, use the "
           "caller's csd here.",
       .forced_on = patches({Patch::v6_17, Patch::v7x}),
       .needs = {.cpus = 3, .tasks = 2, .csdlock_debug = true, .calls = "single"},
       .expected = {"S-I15", "S-I12", "S-I14", "S-I13"}},

      {.bug = Bug::any_numa_inactive,
       .id = "Q02",
       .slug = "any-numa-inactive",
       .alias = "",
       .kind = Kind::quirk,
       .title = "smp_call_function_any() does not find a CPU that is online but not active",
       .origin = "Linux 6.17 with NUMA",
       .mechanism =
           "The nearest CPU is looked for in the scheduler's NUMA masks, which a CPU leaves "
           "when it is deactivated, long before it is offline.",
       .forced_on = patches({Patch::v6_17}),
       .needs = {.cpus = 2, .hotplug = true, .calls = "any, any_wait"},
       .expected = {"S-I7"}},

      // The torture itself: branches in torture/scf.
      {.bug = Bug::scfc_in_uninit,
       .id = "Q03",
       .slug = "scfc-in-uninit",
       .alias = "",
       .kind = Kind::quirk,
       .title = "scfc_in is not initialised when the object is allocated",
       .origin = "kernel/scftorture.c, 6.12",
       .mechanism =
           "A recycled object still says that the caller's writes are visible, so the check "
           "of the handler is nearly blind.",
       .needs = {.cpus = 2, .calls = "any waited call"},
       .expected = {}},

      {.bug = Bug::scf_inverted_gate,
       .id = "Q04",
       .slug = "scf-inverted-gate",
       .alias = "",
       .kind = Kind::quirk,
       .title = "the start gate of the invokers does not hold anyone back",
       .origin = "kernel/scftorture.c, 6.12",
       .mechanism = "Only the last thread to arrive tests whether all others have arrived.",
       .needs = {.cpus = 2, .calls = "any"},
       .expected = {}},

      {.bug = Bug::scf_many_unpinned,
       .id = "Q05",
       .slug = "scf-many-unpinned",
       .alias = "",
       .kind = Kind::quirk,
       .title = "smp_call_function_many() is called with preemption enabled below P06",
       .origin = "kernel/scftorture.c, 6.12, use_cpus_read_lock",
       .mechanism =
           "With use_cpus_read_lock the invoker holds only the hotplug lock, but below P06 "
           "the call requires preemption to be off.",
       .forced_off = patches({Patch::p06, Patch::p07, Patch::p08, Patch::p09}),
       .needs = {.cpus = 2,
                 .tasks = 2,
                 .preempt = true,
                 .cpus_read_lock = true,
                 .calls = "many, many_wait"},
       .expected = {"WARN", "S-I41", "S-I45"}},
  };
}

}  // namespace sd::bugs::bank
