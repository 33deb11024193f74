// Is a CPU told that its queue is not empty?
//
// S-I22 If the queue of an online CPU is not empty, a call IPI is pending for it, or an adder that
//       found it empty has yet to notify, or the CPU is awake and going to look (idle and polling
//       with NEED_RESCHED set, or flushing). Checked where the last of these cannot be: when the
//       CPU halts, while it is halted and somebody trusts it to be polling, and at the end.
// S-I23 An adder that found the queue empty notifies its CPU before its pinned section ends, and
//       before it waits for a completion.
// S-I24 Call IPIs go only to CPUs whose queue their sender had found empty: counted, no violation.
//
// Exceptions: the mark that a notification leaves in the trace comes later than its effect; until
// then the adder counts as not having notified. IPIs merge, may be spurious, and may be lost by a
// CPU that is offline. Adders that ride on an interrupted adder's notification found the queue not
// empty. The IPI that a complaint about a stuck csd sends again is not superfluous. A call from
// within cond_func, or from an interrupt, ends its section while the one around it still owes.
// While it waits to lock a csd for its next target, a call may owe.
//
// Cost: O(1) per read-modify-write on a queue head, IPI, halt and interrupt.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/oracle.h"
#include "core/oracle/queue_heads.h"

namespace sd::oracle {

// Of one execution.
struct IpiCounts {
  uint64_t sent = 0;         // call IPIs
  uint64_t superfluous = 0;  // of these, to a CPU whose queue was not found empty
};

class Queue : public Oracle {
 public:
  explicit Queue(const View& view = machine_view(), Sink sink = machine_sink);

  const char* name() const override { return "queue"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;
  void on_end() override;

  const IpiCounts& ipis() const { return ipis_; }

 private:
  // An adder that found the queue empty, and has not notified yet.
  struct Adder {
    uint16_t task = 0;
    uint16_t level = 0;  // how many calls deep
  };

  struct Cpu {
    bool online = false;
    bool halted = false;
    bool filled = false;  // the queue is not empty
    std::vector<Adder> owing;
  };

  struct Task {
    uint32_t execution = 0;  // of what follows
    uint16_t level = 0;
    uint16_t owes = 0;     // to how many CPUs
    bool resends = false;  // the next IPI is one that a complaint sends again
  };

  Task& task_state(uint16_t task);
  void queue_operation(const Event& event);
  bool notified(const Event& event, unsigned cpu);
  void section_ends(const Event& event);
  void check(const Event& event, unsigned cpu);

  std::vector<Cpu> cpus_;
  std::vector<Task> tasks_;
  uint32_t execution_ = 0;
  QueueHeads heads_;
  IpiCounts ipis_;
};

}  // namespace sd::oracle
