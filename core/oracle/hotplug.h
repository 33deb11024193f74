// Cross-CPU calls and CPUs that come and go.
//
// S-I29 A function runs only on an online CPU.
// S-I30 After smpcfd_dying_cpu() of a CPU has returned, its queue is empty, and stays empty until
//       its online bit is set again.
// S-I31 irq_work that a CPU has queued for itself up to the flush of its call queue in
//       smpcfd_dying_cpu() is off its lists when that returns.
// S-I34 No flush that would warn of it ("IPI on offline CPU") finds entries on an offline CPU,
//       however often the kernel has warned already.
// S-I39 A failed smpcfd_prepare_cpu() leaves nothing allocated, and smpcfd_dead_cpu() frees the two
//       masks of the CPU, and its csds below P05. (That no csds are allocated twice from P05 on is
//       S-I18; that nothing is freed twice is the heap's business.)
//
// Exceptions: S-I29: inside the flush of smpcfd_dying_cpu(), and local execution (without csd) by
// an offline CPU's own call. S-I30 holds from the start for a CPU that was never online. S-I31:
// works that the CPU queues later, for instance from other works, stay until it is back; works for
// another CPU travel over its call queue. The lists are known by the works that are added to them.
//
// Cost: O(1) per function, per read-modify-write on a queue head, per irq_work; allocations while a
// CPU is being prepared.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/oracle.h"
#include "core/oracle/pointer_table.h"
#include "core/oracle/queue_heads.h"

namespace sd::oracle {

class Hotplug : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "hotplug"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  // A list of irq_works that a CPU has raised for itself.
  struct List {
    const volatile void* head = nullptr;
    bool filled = false;
    bool due = false;  // filled when the dying CPU had flushed its call queue, and not taken since
  };
  static constexpr unsigned kLists = 2;  // raised, lazy

  struct Cpu {
    bool online = false;
    bool dying = false;    // inside smpcfd_dying_cpu()
    bool drained = false;  // smpcfd_dying_cpu() is over, or it was never online
    bool filled = false;   // the call queue is not empty
    bool warns = false;    // the flush that is going on does, of entries while offline
    List lists[kLists];
  };

  struct Work {
    bool claimed = false;  // and not on a list yet
  };

  void list_operation(const Event& event);
  void queue_operation(const Event& event, Cpu& cpu, unsigned index);
  void work_operation(const Event& event);
  void work_claimed(const Event& event);
  static void works_are_due(Cpu& cpu);
  void dying_end(const Event& event, Cpu& cpu);
  void prepare(const Event& event);
  void dead_begin(const Event& event);
  void dead_end(const Event& event);

  std::vector<Cpu> cpus_;
  PointerTable<Work> works_;
  uint32_t claims_ = 0;  // works claimed and not on a list yet
  QueueHeads heads_;
  // The preparation of a CPU, or its end, that is going on. One at a time: hotplug is exclusive.
  bool preparing_ = false;
  bool burying_ = false;
  uint16_t preparer_ = 0;  // task that does it
  int32_t allocated_ = 0;  // by it, and not freed
};

}  // namespace sd::oracle
