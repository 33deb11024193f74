// Does the function of each call run where, when and as often as was asked for?
//
// S-I1  A waited call of one CPU that returns 0: func ran exactly once, on the requested CPU (any:
//       on the chosen one), and had finished before the return.
// S-I2  -ENXIO was returned: func does not run, now or later.
// S-I4  A waited call of several CPUs: on return func has finished exactly once on every queued
//       target; the local part ran exactly once, on the CPU of the pinned section, iff RUN_LOCAL
//       was asked for, that CPU was in the mask when sampled and the condition (if any) was true.
// S-I6  A call that did not wait and returned 0: func runs exactly once (per target), before the
//       end of the execution at the latest.
// S-I8  A call of several CPUs without RUN_LOCAL never runs func on the calling CPU.
// S-I19 The wait of a task for a csd ends only after the task's own request was unlocked by the
//       target, which is after its function; it may end later.
// S-I35 S-I1 and S-I4 for calls whose CPU has gone offline since their section ended: the task has
//       been moved, and its wait is neither lost nor doubled.
// S-I37 The no-wait single call of an offline CPU (of its idle task, to say that it is dead)
//       returns 0, and its function runs exactly once, possibly after the caller has halted.
// S-I10 (part) single_async that returns -EBUSY adds no run.
//
// Exceptions: calls from a context that the API forbids (interrupts off on an online CPU, or not a
// task; single_async may be called anywhere) are followed but not judged. A wait may last longer
// than the call's own request. Nothing is said about the order of runs: SYNC overtakes ASYNC in a
// flush. An offline CPU may run its own calls locally.
//
// How a run is attributed to a call: by its csd, as of the moment that the flush unlinked it (the
// owner may queue it anew while an ASYNC function is running); a local run, which has no csd,
// belongs to the innermost call of the context.
//
// Cost: O(1) per tracepoint of a call, at return O(targets / 64).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/oracle/call_record.h"
#include "core/oracle/call_stacks.h"
#include "core/oracle/cpu_set.h"
#include "core/oracle/oracle.h"
#include "core/oracle/pointer_table.h"
#include "core/oracle/run_counts.h"
#include "core/smp/trace.h"

namespace sd::oracle {

class Completion : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "completion"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;
  void on_end() override;

  // What this execution came to, counted independently of the stack and of any torture.
  const RunCounts& counts() const { return counts_; }

  // One line per call in progress: who waits for what, and how far that is. For reports of hangs.
  std::string describe_waiting() const;

 private:
  enum class Phase : uint8_t { none, queued, taken };

  struct Call : CallRecord {
    bool ended = false;
    bool source_gone = false;  // the CPU of the section, since
    bool from_offline = false;
    bool run_local = false;
    bool local_sampled = false, local_cond = false;
    uint32_t uid = 0;
    uint32_t queued_count = 0, outstanding = 0;
    uint32_t local_started = 0, local_finished = 0;
    smp::smp_call_func_t func = nullptr;
    const char* function = "";
    const volatile void* waits_for = nullptr;  // csd
    bool waits_to_lock = false;
    CpuSet queued, started, finished, unlocked;
  };

  // What a csd was last queued for.
  struct Request {
    uint32_t call = 0;
    uint32_t uid = 0;  // 0: no call is known
    uint32_t target = 0;
    smp::call_kind kind{};
    bool wait = false;
    Phase phase = Phase::none;
  };

  // The entry that a CPU's flush has unlinked last.
  struct Current {
    const volatile void* csd = nullptr;  // until its function has run
    const volatile void* to_unlock = nullptr;
    Request request;
  };

  void call_begin(const Event& event);
  void call_end(const Event& event);
  void judge_one_cpu(const Event& event, const Call& call, int result);
  void judge_several_cpus(const Event& event, const Call& call);
  void queue(const Event& event);
  void unlink(const Event& event);
  void func_entry(const Event& event);
  void func_exit(const Event& event);
  void local_entry(const Event& event);
  void unlock(const Event& event);
  void wait_end(const Event& event, const Call& call);
  void source_goes(unsigned cpu);
  const Request* request_running(const Event& event);
  Call* call_of(const Request& request);
  void count_return(const Call& call, bool refused);

  static const char* id_of(smp::call_kind kind, bool wait);
  static const char* id_at_return(const Call& call);
  CallName who(const Call& call) const { return name_of(view(), call); }

  CallStacks<Call> calls_;
  PointerTable<Request> requests_;  // by csd
  std::vector<Current> current_;    // by CPU
  RunCounts counts_;
  uint32_t uid_ = 0;
};

}  // namespace sd::oracle
