// What the hotplug state machine promises to the calls: a check of the machine as
// much as of callbacks.
//
// S-I32 When take_cpu_down() runs, no task of an online CPU is inside a section with preemption
//       off, and no interrupt handler is active.
// S-I36 While cpus_read_lock() is held the online and active CPUs do not change.
// S-I38 A hotplug operation ends with the CPU where it belongs: offline, or online and active after
//       a success; after a failure and its rollback, where it began.
//
// Exceptions: S-I32: the stoppers themselves, and idle tasks, which are switched out with their
// base depth. S-I38: an operation that fails when the CPU is dead already leaves it offline. That a
// CPU whose unplugging has failed still serves its queue is S-I22, and that one whose bringing up
// has failed has nothing in it S-I30.
//
// Cost: O(1) per change of the depth of disabled preemption and per interrupt, O(tasks) per
// CPU that goes down.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/oracle.h"

namespace sd::oracle {

class Cpuhp : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "cpuhp"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  struct Cpu {
    uint16_t current = 0;  // task; known from its first switch on
    bool known = false;
    uint8_t irqs = 0;  // handlers active
  };

  void take_cpu_down(const Event& event) const;
  bool runs_somewhere(uint32_t task) const;
  void mask_changes(const Event& event) const;
  void operation_ends(const Event& event) const;

  std::vector<Cpu> cpus_;
  std::vector<uint16_t> depth_;  // of disabled preemption, by task
  uint32_t tasks_ = 0;           // bound of those that have had one
  uint32_t readers_ = 0;         // of cpus_read_lock()
  bool up_ = false;              // the operation going on
  bool died_ = false;            // the CPU of the operation has been offline in it
};

}  // namespace sd::oracle
