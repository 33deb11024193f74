// The masks of CPUs to wait for, and the csds behind them: whose they are, and for how long.
//
// S-I18 A waiter never reads a csd or a mask that has been freed, and (from P05 on) the csds of a
//       CPU stay where they were allocated first.
// S-I33 The mask of a CPU is used only while the CPU is prepared for calls: not between
//       smpcfd_dead_cpu() and the next smpcfd_prepare_cpu().
// S-I44 The mask of a task serves at most one call at a time, and one live task.
// S-I45 The mask of a CPU is not written to by a second call between the first write and the last
//       read of a first one.
//
// Exceptions: calls without a remote candidate touch no mask. A call that does not wait is done
// with its mask when its section ends. Until P05 csds move when the CPU has been down.
//
// Cost: O(1) per tracepoint of a call; at its snapshot a look-up of the mask.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/call_stacks.h"
#include "core/oracle/oracle.h"
#include "core/oracle/pointer_table.h"

namespace sd::oracle {

class Masks : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "masks"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  struct Call {
    uint32_t below = 0;
    uint16_t task = 0;
    bool live = false;
    bool wait = false;
    bool of_cpu = false;  // the mask is the CPU's, not the task's
    uint16_t cpu = 0;
    uint32_t queued = 0, waits = 0;       // csds queued, waits for one ended
    const volatile void* mask = nullptr;  // in use by this call
  };

  struct Mask {
    bool used = false;
    uint16_t user = 0;   // task of the call that uses it
    bool owned = false;  // by a task that has used it
    uint16_t owner = 0;
  };

  struct Cpu {
    bool prepared = false;
    const volatile void* csds = nullptr;
  };

  void snapshot(const Event& event, Call& call);
  void claim(const Event& event, const Call& call, Mask& mask) const;
  void release(Call& call);
  void check_mask(const Event& event, const Call& call) const;
  void check_csd(const Event& event) const;
  void prepared(const Event& event);
  void freed(const Event& event);
  void task_ends(const Event& event);

  CallStacks<Call> calls_;
  PointerTable<Mask> masks_;
  std::vector<const volatile void*> mask_of_;  // by task: its own
  uint32_t tasks_ = 0;
  std::vector<Cpu> cpus_;
};

}  // namespace sd::oracle
