// Does csd-lock debugging tell the truth about what is stuck?
//
// S-I60 csd_lock_is_stuck() is true at the end of an execution iff a complaint is outstanding; each
//       complaint is made under a number of its own, and ends at most once.
//
// Exceptions: a complaint may be repeated, and may be outstanding when the execution ends. The counter
// changes some steps after the messages, so only its end is looked at.
//
// Cost: O(complaints outstanding) per complaint.
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
  void on_begin() override { outstanding_.clear(); }
  void on_event(const Event& event) override;
  void on_end() override;

 private:
  struct Complaint {
    uint64_t number = 0;
    uint16_t task = 0;
    const volatile void* csd = nullptr;
  };

  std::vector<Complaint> outstanding_;
};

}  // namespace sd::oracle
