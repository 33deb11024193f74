#include "core/smp/csd_lock.h"

#include "core/smp/csd_debug.h"

namespace sd::smp {

void csd_lock_wait(call_single_data_t* csd) {
  if (csdlock_debug_enabled()) {
    __csd_lock_wait(csd);
    return;
  }
  if (bug(Bug::no_acquire_in_wait)) {
    smp_cond_load_relaxed(&csd->node.u_flags, !(VAL & CSD_FLAG_LOCK));
    return;
  }
  smp_cond_load_acquire(&csd->node.u_flags, !(VAL & CSD_FLAG_LOCK));
}

// A plain read-modify-write. Below P06 nobody else looks at the flags of a csd that is not locked.
// From P06 on a task that has left this CPU may still poll them for its own, finished request: a
// race of this store with a marked load that is intended. The poller sees LOCK clear, or sees the
// next request and waits for that one too.
void csd_set_flags(call_single_data_t* csd, unsigned flags) {
  if (patch(Patch::p06)) {
    data_race_write(&csd->node.u_flags, data_race_read(&csd->node.u_flags) | flags);
  } else {
    csd->node.u_flags |= flags;
  }
}

void csd_lock(call_single_data_t* csd, unsigned cpu) {
  trace(tp::csd_lock_begin, csd);
  if (!bug(Bug::csd_lock_no_wait)) csd_lock_wait(csd);
  csd_set_flags(csd, CSD_FLAG_LOCK);
  trace(tp::csd_locked, csd, cpu);
  // LOCK before type, func and info, for those who look at the csd without having it off a list.
  smp_wmb();
}

void csd_unlock(call_single_data_t* csd) {
  const bool locked = (csd->node.u_flags & CSD_FLAG_LOCK) != 0;
  trace(tp::csd_unlock, csd, locked);
  WARN_ON(!(csd->node.u_flags & CSD_FLAG_LOCK));
  // All accesses of the function, or of this reader of func and info, before the next owner's.
  if (bug(Bug::h39)) {
    WRITE_ONCE(csd->node.u_flags, 0);
    return;
  }
  smp_store_release(&csd->node.u_flags, 0);
}

}  // namespace sd::smp
