// Has every CPU been through an interrupt?
//
// S-I9 When kick_all_cpus_sync() returns, each CPU that was online throughout has run the no-op
//      after the call's initial full barrier, other than the CPU that the call was dispatched on.
//
// Exceptions: a CPU that came or went meanwhile has been through more than an interrupt. Calls from
// a context that the API forbids are not judged by S-I9 but by S-I43.
//
// Cost: O(1) per fence and per function that runs while a kick is going on; at return O(CPUs / 64).
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/cpu_history.h"
#include "core/oracle/cpu_set.h"
#include "core/oracle/oracle.h"

namespace sd::oracle {

class Kick : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "kick"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  struct Going {
    uint64_t func = 0;  // the no-op
    uint16_t task = 0;
    bool fenced = false;
    uint32_t cpu = 0;    // of the dispatch
    uint64_t since = 0;  // instant of the barrier
    CpuSet passed;       // have been through the no-op since
  };

  void begin(const Event& event);
  void end(const Event& event);
  Going* of_task(uint16_t task);

  std::vector<Going> going_;
  CpuHistory online_;
  uint64_t instant_ = 1;
};

}  // namespace sd::oracle
