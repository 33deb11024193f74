// Are the right CPUs asked, and is an error only returned where it is due?
//
// S-I3  -ENXIO of single and single_async only if at some instant of the call's pinned section the
//       target was offline, or it is out of range; never for the CPU that the section runs on.
// S-I5  Every CPU, other than the one of the pinned section, that was in the mask and online during
//       the whole section, and for which the condition (if any) was not false, is queued; every
//       queued CPU was in the mask at some instant and online at some (other) instant of it, is not
//       the CPU of the section, and passed the condition. (That it is online when queued is S-I30,
//       seen at the add.)
// S-I7  any() returns 0 if some CPU stayed in the mask and online for the whole pinned section, or
//       if the CPU of the section stayed in the mask (online or not: then it runs there); on 0 it
//       chose a CPU that was in the mask.
// S-I11 cond_func is called exactly once per remote candidate and at most once for the CPU of the
//       section, with preemption off, on that CPU; for a remote candidate before its csd is locked.
//
// Exceptions: masks and the online mask may change during the call and are not read at one instant,
// so a CPU that was not there all the time may be asked or not; calls from a forbidden context are
// not judged; calls without call_pinned/call_unpinned events are not either. If a call has several
// pinned sections, the last one counts. A mask in use may be changed by atomic bit operations (they
// are seen), not by plain stores (they would be races). CPUs that are online and not active count
// as online: the real any() of 6.17 with NUMA misses them, which is a finding (a quirk that has a
// switch).
//
// Cost: O(1) per tracepoint of a call and per atomic operation; at pinned, unpinned and return
// O(CPUs / 64), O(CPUs) if a CPU came or went during the section.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/call_record.h"
#include "core/oracle/call_stacks.h"
#include "core/oracle/cpu_history.h"
#include "core/oracle/cpu_set.h"
#include "core/oracle/oracle.h"
#include "core/smp/trace.h"

namespace sd::oracle {

class Selection : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "selection"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  struct Call : CallRecord {   // pinned: inside the section
    bool has_section = false;  // it is over, and what follows below is known
    bool own_asked = false;    // cond_func, for the section's CPU
    uint64_t since = 0;        // instant of call_pinned
    const smp::cpumask* mask = nullptr;
    CpuSet in_mask_always, in_mask_ever;  // since call_pinned
    CpuSet always, ever;                  // in the mask and online, during the section
    CpuSet queued, passed, failed, locked;
  };

  void call_begin(const Event& event);
  void pinned(const Event& event, Call& call);
  void unpinned(Call& call);
  void call_end(const Event& event);
  void cond_result(const Event& event, Call& call);
  void judge_one(const Event& event, const Call& call, int result);
  void judge_any(const Event& event, const Call& call, int result);
  void judge_many(const Event& event, const Call& call);
  void mask_operation(const Event& event);
  bool is_own_history(const Call& call) const { return call.mask == view().online_mask(); }
  void unwatch(const Call& call);
  CallName who(const Call& call) const { return name_of(view(), call); }

  CallStacks<Call> calls_;
  CpuHistory online_;
  uint64_t instant_ = 1;
  std::vector<uint32_t> watched_;  // pinned calls with a mask that others may change
  unsigned cpus_ = 0;
};

}  // namespace sd::oracle
