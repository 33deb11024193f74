// In which context things happen.
//
// S-I27 All callbacks of a flush run with interrupts off, not preempted, on the CPU that owns the
//       queue, and no flush starts inside another flush of the same CPU.
// S-I40 The depth of disabled preemption at return equals that at entry, for every API.
// S-I41 From the choice of targets to the IPIs the task never leaves its CPU and is never
//       preempted.
// S-I42 Where the series makes a call preemptible, the depth of disabled preemption while it waits
//       for completion equals that at entry.
// S-I43 Calls are not made with interrupts off on an online CPU, nor outside of task context.
//
// Exceptions: a callback may call single_async for its own CPU, which runs there and then, without
// csd, and is no flush. The local part of a call is no callback of a flush. smp_call_on_cpu and
// irq_work_queue_on have no section of their own. S-I42: single from P02 on, any with P02 and P03,
// many with P06, smp_call_function with P07 too, on_each_cpu* with P08 too; as P06 was posted, only
// tasks that have a mask of their own. The wait to lock a csd, before it is queued, is not
// preemptible, nor is the inside of each wait with csd debugging and P01. S-I43: single_async may
// be called anywhere.
//
// Cost: O(1) per tracepoint of a call and of a flush, and per switch of tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/call_stacks.h"
#include "core/oracle/oracle.h"
#include "core/smp/trace.h"

namespace sd::oracle {

class Context : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "context"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  static constexpr uint32_t kNobody = ~0u;

  struct Call {
    uint32_t below = 0;
    uint16_t task = 0;
    bool live = false;
    bool pinned = false;    // inside the section
    bool switched = false;  // switched out since the section began
    bool had_section = false;
    bool preemptible = false;  // the series lets it wait with preemption as it was
    bool needs_mask = false;   // provided that the task has a mask
    uint32_t depth = 0;        // of disabled preemption, at entry
    const char* function = "";
  };

  void flush_begin(const Event& event);
  void callback(const Event& event, const char* what);
  void switched(const Event& event);
  void call_begin(const Event& event);
  void judge_context(const Event& event, const smp::call_args& args);
  bool waits_preemptibly(const smp::call_args& args) const;
  void wait_begin(const Event& event, const Call& call);
  void call_end(const Event& event);

  struct Flush {
    uint32_t task = kNobody;
    const char* function = "";
  };
  std::vector<Flush> flushing_;  // who runs a flush, by CPU
  CallStacks<Call> calls_;
};

}  // namespace sd::oracle
