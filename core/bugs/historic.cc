// The canary, bugs that were in a kernel or that the kernel and the series name as the reason for a
// line of code, and the patches of the series without their prerequisites.
#include "core/bugs/bank.h"

namespace sd::bugs::bank {
namespace {

series::PatchSet preemptible_many_without(Patch patch) {
  return preemptible_many() & ~series::bit(patch);
}

}  // namespace

std::vector<BugInfo> historic() {
  return {
      {.bug = Bug::canary,
       .id = "CANARY",
       .slug = "single-does-not-wait",
       .alias = "canary",
       .kind = Kind::canary,
       .title = "a waited single-CPU call returns without waiting",
       .origin = "own",
       .mechanism = "smp_call_function_single() skips the wait for its csd, so it returns, and its "
                    "stack frame with the csd ends, while the target may not have begun.",
       .needs = {.cpus = 2, .calls = "single_wait"},
       .expected = {"S-I1", "S-I21", "S-I17"}},

      {.bug = Bug::h01,
       .id = "H01",
       .slug = "many-mask-cleared-concurrently",
       .alias = "",
       .kind = Kind::historic,
       .title = "the target set changes while the call is being prepared",
       .origin = "Linux up to 2.6.38, 723aae25d5cd",
       .mechanism = "The queue loop looks at the caller's live mask again, while the csd is locked "
                    "and waited for by the snapshot: a CPU that left the mask in between is waited "
                    "for but never asked.",
       .needs = {.cpus = 3, .tasks = 2, .calls = "many_wait on a mask that others clear"},
       .expected = {"hang", "S-I14", "S-I23"}},

      {.bug = Bug::h02,
       .id = "H02",
       .slug = "gq-list-del-vs-add",
       .alias = "",
       .kind = Kind::historic,
       .title = "a request is taken off the global queue before it was put on it",
       .origin = "2.6.32 to 2.6.38, e6cd1e07a185",
       .mechanism =
           "Requests were reused at once, so a late walker of the global queue may stand on one "
           "that its owner is filling anew. The count of CPUs to go is set before the lock is "
           "taken: the walker finds its bit and the count, runs the function, and as the last "
           "one deletes a request that is not on the list yet.",
       .needs = {.cpus = 3, .global_queue = true, .calls = "many, many_wait"},
       .expected = {"BUG", "hang", "livelock"}},

      {.bug = Bug::h03,
       .id = "H03",
       .slug = "csd-left-locked-on-error",
       .alias = "",
       .kind = Kind::historic,
       .title = "the error return forgets to release the csd",
       .origin = "before 4.1, 5224b9613b91",
       .mechanism = "generic_exec_single() finds the target offline or out of range and returns "
                    "-ENXIO with the csd still locked; the next user of that csd waits for ever.",
       .needs = {.cpus = 2, .hotplug = true, .calls = "single, single_wait, single_async"},
       .expected = {"hang", "S-I10", "S-I21"}},

      {.bug = Bug::h04,
       .id = "H04",
       .slug = "async-csd-unlock-after-func",
       .alias = "async_unlock_after",
       .kind = Kind::historic,
       .title = "an async csd is released only after its function has run",
       .origin = "before 4.1, 8053871d0f7f",
       .mechanism =
           "The function of an asynchronous request tells the owner that the csd may be "
           "reused or freed. A flush that unlocks after it writes to an object that may be "
           "gone, or clears the lock of the owner's next request.",
       .needs = {.cpus = 2, .calls = "single, many, single_async"},
       .expected = {"S-I16", "S-I17", "use-after-free"}},

      {.bug = Bug::h05,
       .id = "H05",
       .slug = "idle-flush-softirq-lost",
       .alias = "",
       .kind = Kind::historic,
       .title = "a softirq raised by a callback that the idle loop flushed never runs",
       .origin = "5.8 to 5.11, f9d34595ae4f",
       .mechanism =
           "A polling idle CPU is woken without an IPI and drains its queue in task context. No "
           "interrupt ends there, so what a callback has raised stays pending until some "
           "unrelated interrupt.",
       .needs = {.cpus = 2, .polling = true, .softirqs = true, .calls = "single, many"},
       .expected = {"softirq-lost"}},

      {.bug = Bug::h06,
       .id = "H06",
       .slug = "dying-cpu-pending-csd",
       .alias = "drop_dying_flush",
       .kind = Kind::historic,
       .title = "requests are still queued when a CPU goes away",
       .origin = "about 3.15, 8d056c48e486",
       .mechanism = "The dying CPU turns interrupts off before an IPI that was already sent "
                    "arrives; without the flush in smpcfd_dying_cpu() the queue outlives the CPU.",
       .needs = {.cpus = 3, .hotplug = true, .calls = "single_async from an interrupt handler"},
       .expected = {"S-I30", "hang", "S-I6"}},

      {.bug = Bug::h07,
       .id = "H07",
       .slug = "any-mask-offline-garbage",
       .alias = "hist_numa_null",
       .kind = Kind::historic,
       .title = "no online CPU in the mask gives a CPU that is not in it",
       .origin = "6.17-rc, 5ebf512f3350, CVE-2025-39895",
       .mechanism = "The search for the nearest CPU does not check that it found anything, and "
                    "takes a CPU from beyond the end of its table.",
       .forced_on = patches({Patch::v6_17}),
       .needs = {.cpus = 3, .hotplug = true, .calls = "any, any_wait"},
       .expected = {"S-I7", "scf-ste"}},

      {.bug = Bug::h08,
       .id = "H08",
       .slug = "many-preempt-window-in-queue-loop",
       .alias = "",
       .kind = Kind::historic,
       .title = "preemption is possible before all csds are queued",
       .origin = "named in the text of the series",
       .mechanism =
           "A csd of the CPU is taken by \"wait until free, then mark\", which two tasks of "
           "one CPU must not do at once. A window between the two steps and the queueing "
           "lets the second task use the csd that the first one holds.",
       .forced_on = preemptible_many(),
       .needs = {.cpus = 2, .tasks = 2, .preempt = true, .calls = "many, all, on_each"},
       .expected = {"S-I41", "S-I45", "S-I12"}},

      {.bug = Bug::h09,
       .id = "H09",
       .slug = "any-select-then-offline",
       .alias = "p03_naive",
       .kind = Kind::historic,
       .title = "the target is chosen, then unplugged, before it is asked",
       .origin = "the series, text of 3/12",
       .mechanism =
           "smp_call_function_any() chooses in one section with preemption off and queues "
           "in another. The chosen CPU goes offline in between, and the call fails although "
           "another CPU of the mask is online all the time.",
       .forced_on = preemptible_many() | patches({Patch::p02, Patch::p03}),
       .needs = {.cpus = 3, .hotplug = true, .preempt = true, .calls = "any, any_wait"},
       .expected = {"S-I7", "S-I41"}},

      {.bug = Bug::h10,
       .id = "H10",
       .slug = "cfd-mask-overwritten",
       .alias = "p06_no_p04",
       .kind = Kind::subset,
       .title = "the next caller rewrites the set that a preempted waiter waits for",
       .origin = "the series, text of 4/12 and 6/12",
       .mechanism =
           "P06 without P04: preemption is enabled before the wait, but the set of CPUs to "
           "wait for is still the CPU's. Another task's call there overwrites it, and the "
           "first one returns before all its targets have run.",
       .forced_on = preemptible_many_without(Patch::p04),
       .forced_off = patches({Patch::p04}),
       .needs = {.cpus = 3, .tasks = 2, .preempt = true, .calls = "many_wait to differing sets"},
       .expected = {"S-I4", "S-I45", "S-I33"}},

      {.bug = Bug::h11,
       .id = "H11",
       .slug = "csd-freed-on-dead-cpu",
       .alias = "p06_no_p05",
       .kind = Kind::subset,
       .title = "the CPU that a waiter has left is unplugged, and its csds are freed",
       .origin = "the series, text of 5/12",
       .mechanism =
           "P06 without P05: a task that waits preemptibly migrates; the CPU that it called "
           "from goes down and frees the csds that the waiter polls and the target has yet "
           "to unlock.",
       .forced_on = preemptible_many_without(Patch::p05),
       .forced_off = patches({Patch::p05}),
       .needs = {.cpus = 2, .hotplug = true, .preempt = true, .calls = "many_wait, all_wait"},
       .expected = {"use-after-free", "S-I18"}},

      {.bug = Bug::h12,
       .id = "H12",
       .slug = "scftorture-online-false-positive",
       .alias = "",
       .kind = Kind::historic,
       .title = "the torture accuses the stack of a memory-ordering failure",
       .origin = "the series, text of 9/12",
       .mechanism =
           "A call to all others that is made while one CPU is online reaches nobody, and nobody "
           "says that the handler ran. With preemption on a second CPU comes online before "
           "the torture asks whether more than one CPU is.",
       .forced_on = preemptible_many(),
       .needs = {.cpus = 2,
                 .hotplug = true,
                 .preempt = true,
                 .lone = true,
                 .calls = "many_wait, all_wait to all CPUs"},
       .expected = {"scf-mb-out"}},

      {.bug = Bug::h13,
       .id = "H13",
       .slug = "csd-debug-preempted-waiter",
       .alias = "",
       .kind = Kind::historic,
       .title = "csd debugging takes the waiter's own time off the CPU for a stuck request",
       .origin = "the series, text of 1/12",
       .mechanism =
           "The wait with csd debugging is preemptible. What other tasks run on the CPU meanwhile "
           "counts as time in which the other CPU has not answered.",
       .forced_on = preemptible_many() | patches({Patch::p01, Patch::p02}),
       .needs = {.cpus = 2,
                 .tasks = 2,
                 .preempt = true,
                 .csdlock_debug = true,
                 .slow_handlers = true,
                 .calls = "many_wait, single_wait"},
       .expected = {"csd-false-alarm"}},

      {.bug = Bug::h14,
       .id = "H14",
       .slug = "stopper-enabled-late",
       .alias = "",
       .kind = Kind::historic,
       .title = "stop work is dropped because a new CPU's stopper has not run yet",
       .origin = "3.9-rc, 46c498c2cdee",
       .mechanism =
           "A stopper accepts work only once it has run for the first time, after the CPU "
           "came up. A stop_machine() before that counts the CPU among those that take part, "
           "but drops its work: all others wait for it for ever.",
       .needs = {.cpus = 2, .hotplug = true, .calls = "none: a CPU that goes down"},
       .expected = {"hang"}},

      {.bug = Bug::h15,
       .id = "H15",
       .slug = "stopper-park-drops-work",
       .alias = "",
       .kind = Kind::historic,
       .title = "accepted stop work is thrown away when the stopper parks",
       .origin = "before 4.4, 233e7f267e58",
       .mechanism =
           "The stopper of a CPU that goes down accepts work until it is parked, and what is "
           "left then is signalled as done without having run: harmless for work of one CPU, "
           "but the other CPU of a rendezvous waits for ever.",
       .needs = {.cpus = 3, .hotplug = true, .swaps = true, .calls = "stop_two_cpus"},
       .expected = {"hang", "scf-stop"}},

      {.bug = Bug::h16,
       .id = "H16",
       .slug = "stop-two-preempted-between-wakes",
       .alias = "",
       .kind = Kind::historic,
       .title = "the caller of stop_two_cpus() is preempted between its two wake-ups",
       .origin = "4.18-era, named in the comments of cpu_stop_queue_two_works()",
       .mechanism =
           "Preemption is not disabled from queueing the two works to waking the second "
           "stopper. The first one, on the caller's CPU, preempts it and waits for the second "
           "with interrupts off, which nobody wakes any more.",
       .needs = {.cpus = 2, .preempt = true, .swaps = true, .calls = "stop_two_cpus"},
       .expected = {"hang"}},

      {.bug = Bug::h17,
       .id = "H17",
       .slug = "irq-work-busy-nonatomic",
       .alias = "",
       .kind = Kind::historic,
       .title = "an irq_work that is queued again is lost",
       .origin = "up to 3.7, c8446b75be6f",
       .mechanism =
           "No full barrier between clearing PENDING and running the function: the clear is "
           "still in the store buffer while the function reads old data, and a producer "
           "that meanwhile sees PENDING relies on this run.",
       .needs = {.cpus = 2, .memory = Memory::tso, .calls = "irq_work"},
       .expected = {"S-I49"}},

      {.bug = Bug::h18,
       .id = "H18",
       .slug = "irq-work-uaf-after-func",
       .alias = "",
       .kind = Kind::historic,
       .title = "the runner touches an irq_work after it has released it",
       .origin = "PREEMPT_RT, and where irq_work has no interrupt; fixed in 6.12.94",
       .mechanism =
           "Who sleeps in irq_work_sync() is woken through the work itself, after BUSY was "
           "cleared. Without a grace period an owner that sees BUSY clear frees the work under "
           "the runner.",
       .needs = {.cpus = 2, .irq_work_from_tick = true, .calls = "irq_work"},
       .expected = {"use-after-free"}},

      {.bug = Bug::h39,
       .id = "H39",
       .slug = "csd-unlock-not-release",
       .alias = "no_release_in_unlock",
       .kind = Kind::historic,
       .title = "completion is visible before what the function wrote",
       .origin = "named in the comments of csd_unlock()",
       .mechanism = "The store that clears LOCK has no release: the waiter sees the flag clear and "
                    "reads the result of the function too early.",
       .needs = {.cpus = 2, .memory = Memory::lkmm, .calls = "single_wait, many_wait"},
       .expected = {"S-I47", "data-race", "scf-mb-out"}},

      {.bug = Bug::h42,
       .id = "H42",
       .slug = "nowait-when-no-ipi",
       .alias = "hist_nowait_when_no_ipi",
       .kind = Kind::historic,
       .title = "a waited call that needed no IPI does not wait",
       .origin = "6.17-rc, a12a498a9738, found by syzbot as use after free",
       .mechanism = "When every target's queue was non-empty already, no IPI is due; the call took "
                    "this for \"nothing was queued\" and returned at once.",
       .needs = {.cpus = 3, .tasks = 2, .calls = "many_wait, all_wait"},
       .expected = {"S-I4"}},
  };
}

}  // namespace sd::bugs::bank
