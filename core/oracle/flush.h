// What a flush makes of the entries that it took off its CPU's queue.
//
// S-I25 Within one flush all SYNC entries come before all others, and wake-ups last; SYNC entries
//       run in the order in which they were queued, and so do ASYNC and IRQ_WORK entries.
// S-I26 (part) A flush handles each entry that its del_all took exactly once, and no others.
// S-I27 (part) A flush takes the entries of its own CPU's queue.
// S-I28 When a flush returns, every entry that its del_all took has been handled.
//
// Exceptions: nothing is said about the order between SYNC and the others (a waited call overtakes
// earlier no-wait calls in a batch), nor among wake-ups. Entries queued meanwhile are the next
// flush's. What has been unlinked may be queued again before the flush ends.
//
// Cost: O(1) per entry, and per read-modify-write on a queue head.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/oracle.h"
#include "core/oracle/pointer_table.h"
#include "core/oracle/queue_heads.h"

namespace sd::oracle {

class Flush : public Oracle {
 public:
  using Oracle::Oracle;

  const char* name() const override { return "flush"; }
  std::vector<EventId> interests() const override;
  void on_begin() override;
  void on_event(const Event& event) override;

 private:
  struct Entry {
    uint64_t number = 0;  // in the order of all additions
    uint64_t batch = 0;   // number of the del_all that takes it
    uint16_t queue = 0;
    bool waiting = false;
  };

  struct Queue {
    uint32_t size = 0;   // additions since the last del_all
    uint64_t taken = 0;  // del_alls so far
    // The batch that the last del_all took.
    uint32_t batch_size = 0;
    uint32_t handled = 0;
    uint64_t last_sync = 0, last_other = 0;  // number of the last entry handled, of each kind
    bool wake_ups = false;
  };

  void queue_operation(const Event& event);
  void unlink(const Event& event);

  PointerTable<Entry> entries_;  // by node
  std::vector<Queue> queues_;    // by CPU
  uint64_t numbers_ = 0;
  QueueHeads heads_;
};

}  // namespace sd::oracle
