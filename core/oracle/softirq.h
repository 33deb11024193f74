// Is a CPU idle although it has something to do?
//
// softirq-lost: a CPU does not halt, and no execution ends, with a softirq pending on a CPU that is
//       online: no interrupt is due that would run it.
//
// Exceptions: an interrupt that is pending when the CPU halts will end, and run it. What a CPU
// leaves pending when it goes down is lost.
//
// Cost: O(1) per halt; O(CPUs) at the end.
#pragma once

#include "core/oracle/oracle.h"

namespace sd::oracle {

class Softirq : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "softirq"; }
  std::vector<EventId> interests() const override;
  void on_begin() override {}
  void on_event(const Event& event) override;
  void on_end() override;
};

}  // namespace sd::oracle
