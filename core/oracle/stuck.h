// Does csd-lock debugging tell the truth about what is stuck?
//
// S-I60 csd_lock_is_stuck() is true at the end of an execution iff a complaint is outstanding; each
//       complaint is made under a number of its own, and ends at most once.
//
// csd-false-alarm: a waiter complains of a request for the first time after it has polled
//       for longer than the timeout. Time in which other tasks had the CPU is not time in
//       which nobody answered.
//
// Exceptions: a complaint may be repeated, and may be outstanding when the execution ends. The
// counter changes some steps after the messages, so only its end is looked at. Interrupts on the
// waiter's CPU count as polling: no patch keeps them out of the measured time. Of a wait with
// several times off the CPU the last one is counted.
//
// Cost: O(complaints outstanding) per complaint; O(1) per context switch.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/oracle.h"

namespace sd::oracle {

class Stuck : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "stuck"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;
  void on_end() override;

 private:
  struct Complaint {
    uint64_t number = 0;
    uint16_t task = 0;
    const volatile void* csd = nullptr;
  };

  // When the task was off the CPU for the last time; by the clocks of the CPUs that
  // it left and came to.
  struct Absence {
    uint64_t execution = 0;
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
  };

  Absence& absence_of(uint64_t task);
  void check_time_on_cpu(const Event& event);

  std::vector<Complaint> outstanding_;
  std::vector<Absence> last_absence_;  // by task
  uint64_t execution_ = 0;
};

}  // namespace sd::oracle
