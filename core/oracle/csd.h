// The life of a csd: free -> locked by a call -> announced -> listed on a queue -> unlinked by a
// flush -> free.
//
// S-I12 A csd is on at most one list, at most once; the batch of a running flush counts as a list,
//       until the flush unlinks the csd from it.
// S-I13 csd_unlock only when LOCK is set.
// S-I14 Between taking LOCK and csd_unlock a csd has exactly one owner; func, info and type are not
//       written after it was queued; from then on only the target's flush unlocks it. Not queued
//       (local execution, -ENXIO), the owner does.
// S-I15 Two agents never execute csd_lock on one csd at once.
// S-I16 The flush unlocks a SYNC csd after its function and an ASYNC one before it, and goes by the
//       type that the csd was queued with.
// S-I17 The flush does not touch a csd after it has unlocked it: it does not go on from a csd that
//       is not in its batch any more, does not unlock one that is still linked there, and the
//       function that it runs is the one that was queued.
// S-I20 The flags of a locked csd are LOCK, or LOCK and SYNC; a wake-up entry keeps its type
//       through the flush.
// S-I10 (part) single_async that returns -ENXIO leaves its csd unlocked, and not on a list.
// S-I21 The csd on the stack of a waited call to one CPU is unlocked and on no list when the call
//       returns.
//
// Exceptions: waiting for a csd (csd_lock_wait) while another task of the source CPU locks it anew
// is legal, and not looked at here. An owner may lock and queue an ASYNC csd again while its
// function is still running, also from within that function, also to the CPU that it runs on. The
// csd of a local call is unlocked before its function, of either type. The stack csd of a no-wait
// call stays unused and locked. The fields of an idle csd belong to its owner. irq_work and wake-up
// entries on the same queues are not csds. The test and the store of single_async have no
// scheduling point between them, so two of them are never at it at once.
//
// Cost: O(1) per tracepoint of a csd and per read-modify-write on a queue head.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/call_stacks.h"
#include "core/oracle/oracle.h"
#include "core/oracle/pointer_table.h"
#include "core/oracle/queue_heads.h"
#include "core/smp/trace.h"

namespace sd::oracle {

class Csd : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "csd"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  enum class Place : uint8_t {
    nowhere,
    announced,  // its owner is about to add it
    listed,     // on the queue of its target, or still linked in the batch that was taken from it
    unlinked,   // taken off the batch: its function is about to run, or running
  };

  // Who does something: a call, or a task outside of any.
  using Agent = uint32_t;
  static constexpr Agent kNobody = 0;

  struct State {
    bool held = false;
    Place place = Place::nowhere;
    uint8_t type = 0;     // as queued
    uint16_t target = 0;  // of the queueing
    uint16_t owner_task = 0;
    uint16_t locker_task = 0;
    Agent owner = kNobody;   // took LOCK
    Agent locker = kNobody;  // is between csd_lock_begin and csd_locked
    uint64_t batch = 0;      // number of the del_all of the target's queue that takes it
    smp::smp_call_func_t func = nullptr;
    void* info = nullptr;
  };

  // What the flush of a CPU is at.
  struct Flush {
    const volatile void* csd = nullptr;
    uint8_t type = 0;
    bool unlocked = false, entered = false, left = false;
    const volatile void* wake_up = nullptr;  // the last one taken off
    smp::smp_call_func_t func = nullptr;
    void* info = nullptr;
  };

  struct Call {
    uint32_t below = 0;
    uint16_t task = 0;
    bool live = false;
    bool wait = false;
    smp::call_kind kind{};
    Agent agent = kNobody;
    const volatile void* csd = nullptr;  // the last one it locked
  };

  Agent agent_of(const Event& event);
  void lock_begin(const Event& event);
  void locked(const Event& event);
  void announce(const Event& event);
  void queue_operation(const Event& event);
  void unlink(const Event& event);
  void check_content(const Event& event, const State& state);
  void check_flags(const Event& event) const;
  void flush_end(const Event& event);
  void unlock(const Event& event);
  void check_unlock_in_flush(const Event& event, const State& state);
  void check_unlock_on_list(const Event& event, const State& state);
  void func_entry(const Event& event);
  void finish(const Event& event);
  void call_begin(const Event& event);
  void call_end(const Event& event);

  PointerTable<State> csds_;
  std::vector<Flush> flush_;     // by CPU
  std::vector<uint64_t> taken_;  // del_alls so far, by queue
  CallStacks<Call> calls_;
  Agent agents_ = 0;
  QueueHeads heads_;
};

}  // namespace sd::oracle
