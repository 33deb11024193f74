#include "core/oracle/oracles.h"

#include "core/oracle/context.h"
#include "core/oracle/cpuhp.h"
#include "core/oracle/csd.h"
#include "core/oracle/flush.h"
#include "core/oracle/hotplug.h"
#include "core/oracle/kick.h"
#include "core/oracle/masks.h"
#include "core/oracle/selection.h"
#include "core/oracle/softirq.h"
#include "core/oracle/stuck.h"

namespace sd::oracle {
namespace {

constexpr OracleInfo kTable[] = {
    {"S-I1", "completion", Cost::at_return,
     "a waited call of one CPU that returns 0 has run its function exactly once, on that CPU, to "
     "its end"},
    {"S-I2", "completion", Cost::at_return,
     "the function of a call that returned -ENXIO never runs"},
    {"S-I3", "selection", Cost::at_return,
     "single and single_async return -ENXIO only for a CPU that was offline at some instant, or is "
     "none"},
    {"S-I4", "completion", Cost::at_return,
     "a waited call of several CPUs has run its function to its end exactly once on every target"},
    {"S-I5", "selection", Cost::at_return,
     "every CPU that was in the mask and online throughout is called, and none that never was"},
    {"S-I6", "completion", Cost::at_end,
     "the function of a call that does not wait runs exactly once, before the end of the "
     "execution"},
    {"S-I7", "selection", Cost::at_return,
     "any() succeeds if a CPU of the mask stayed online, and chooses one of the mask, its own if "
     "it can"},
    {"S-I8", "completion", Cost::every_step,
     "a call of several CPUs without RUN_LOCAL never runs on the calling CPU"},
    {"S-I9", "kick", Cost::at_return,
     "after kick_all_cpus_sync() every CPU that stayed online has been through an interrupt"},
    {"S-I10", "completion", Cost::at_return,
     "single_async that fails adds no run, and leaves no csd locked that it has locked (csd)"},
    {"S-I11", "selection", Cost::every_step,
     "the condition is asked once per candidate, pinned, before the csd for that CPU is locked"},
    {"S-I12", "csd", Cost::every_step, "a csd is on at most one list, at most once"},
    {"S-I13", "csd", Cost::every_step, "only a locked csd is unlocked"},
    {"S-I14", "csd", Cost::every_step,
     "a locked csd has one owner; once queued it is not written to but by the target's flush"},
    {"S-I15", "csd", Cost::every_step, "two agents are never at locking one csd at once"},
    {"S-I16", "csd", Cost::every_step,
     "a flush unlocks a SYNC csd after its function, an ASYNC one before it"},
    {"S-I17", "csd", Cost::every_step, "a flush does not touch a csd that it has unlocked"},
    {"S-I18", "masks", Cost::every_step,
     "a waiter reads no csd or mask that is freed; from P05 on csds stay where they are"},
    {"S-I19", "completion", Cost::at_return,
     "a wait ends only after the target has unlocked the waiter's own request"},
    {"S-I20", "csd", Cost::every_step,
     "the flags of a locked csd are LOCK or LOCK|SYNC; a wake-up entry keeps its type"},
    {"S-I21", "csd", Cost::at_return,
     "the csd on the stack of a waited call is unlocked and on no list when the call returns"},
    {"S-I22", "queue", Cost::every_step,
     "an online CPU does not sleep on a queue that is not empty without an IPI on its way"},
    {"S-I23", "queue", Cost::every_step,
     "who adds to an empty queue notifies its CPU before its pinned section ends"},
    {"S-I24", "queue", Cost::at_end,
     "call IPIs go only where the sender found the queue empty (a statistic, no violation)"},
    {"S-I25", "flush", Cost::every_step,
     "a flush runs SYNC entries first and wake-ups last, and each kind in the order of its "
     "queueing"},
    {"S-I26", "flush", Cost::every_step,
     "a flush handles each entry that it took once, and no others"},
    {"S-I27", "context", Cost::every_step,
     "callbacks of a flush run with interrupts off, not preempted, on the CPU of the queue, not "
     "nested"},
    {"S-I28", "flush", Cost::every_step,
     "when a flush returns, every entry that it took has been handled"},
    {"S-I29", "hotplug", Cost::every_step,
     "a queued function runs only on an online CPU, or in the flush of smpcfd_dying_cpu()"},
    {"S-I30", "hotplug", Cost::every_step,
     "the queue of a CPU is empty from the end of smpcfd_dying_cpu() until it is online again"},
    {"S-I31", "hotplug", Cost::every_step,
     "smpcfd_dying_cpu() takes all irq_work that the CPU had queued for itself"},
    {"S-I32", "cpuhp", Cost::every_step,
     "no task has preemption off and no handler is active when take_cpu_down() runs"},
    {"S-I33", "masks", Cost::every_step,
     "the mask of a CPU is used only while the CPU is prepared for calls"},
    {"S-I34", "hotplug", Cost::every_step, "no IPI for a call is sent to an offline CPU"},
    {"S-I35", "completion", Cost::at_return,
     "the wait of a task whose CPU has gone offline is neither lost nor doubled"},
    {"S-I36", "cpuhp", Cost::every_step,
     "the online and active CPUs do not change while cpus_read_lock() is held"},
    {"S-I37", "completion", Cost::at_end,
     "the call by which a dead CPU reports returns 0, and its function runs exactly once"},
    {"S-I38", "cpuhp", Cost::at_return,
     "a hotplug operation that fails leaves the CPU where it was, online and active or offline"},
    {"S-I39", "hotplug", Cost::every_step,
     "a failed smpcfd_prepare_cpu() leaves nothing allocated, and smpcfd_dead_cpu() no masks"},
    {"S-I40", "context", Cost::at_return,
     "every call returns with the depth of disabled preemption that it was called with"},
    {"S-I41", "context", Cost::every_step,
     "a task is not preempted between the choice of targets and their IPIs"},
    {"S-I42", "context", Cost::every_step,
     "a call that the series makes preemptible waits with the depth that it was called with"},
    {"S-I43", "context", Cost::every_step,
     "calls are made in task context, with interrupts on unless the CPU is offline"},
    {"S-I44", "masks", Cost::every_step,
     "the mask of a task serves one call at a time, of one live task"},
    {"S-I45", "masks", Cost::every_step,
     "the mask of a CPU is not written to while another call may still read it"},
    {"S-I60", "stuck", Cost::at_end,
     "csd_lock_is_stuck() is true iff a complaint about a csd lock is outstanding"},
    {"csd-false-alarm", "stuck", Cost::every_step,
     "a waiter complains of a request only after it has polled for longer than the timeout"},
    {"softirq-lost", "softirq", Cost::every_step,
     "a CPU does not halt with a softirq pending unless an interrupt is due"},
};

}  // namespace

Oracles make_oracles() {
  Oracles oracles;
  oracles.push_back(std::make_unique<Context>());
  oracles.push_back(std::make_unique<Completion>());
  oracles.push_back(std::make_unique<Selection>());
  oracles.push_back(std::make_unique<Csd>());
  oracles.push_back(std::make_unique<Hotplug>());
  oracles.push_back(std::make_unique<Queue>());
  oracles.push_back(std::make_unique<Flush>());
  oracles.push_back(std::make_unique<Masks>());
  oracles.push_back(std::make_unique<Cpuhp>());
  oracles.push_back(std::make_unique<Kick>());
  oracles.push_back(std::make_unique<Stuck>());
  oracles.push_back(std::make_unique<Softirq>());
  return oracles;
}

const Completion* completion_of(const Oracles& oracles) {
  for (const auto& oracle : oracles) {
    if (const auto* completion = dynamic_cast<const Completion*>(oracle.get())) return completion;
  }
  return nullptr;
}

IpiCounts ipis_of(const Oracles& oracles) {
  for (const auto& oracle : oracles) {
    if (const auto* queue = dynamic_cast<const Queue*>(oracle.get())) return queue->ipis();
  }
  return {};
}

std::string describe_hang(const Oracles& oracles) {
  const Completion* completion = completion_of(oracles);
  return completion ? completion->describe_waiting() : "";
}

const char* cost_name(Cost cost) {
  switch (cost) {
    case Cost::every_step:
      return "every step";
    case Cost::at_return:
      return "at return";
    case Cost::at_end:
      return "at end";
  }
  return "?";
}

std::span<const OracleInfo> oracle_table() {
  return kTable;
}

}  // namespace sd::oracle
