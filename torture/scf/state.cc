#include "torture/scf/state.h"

namespace sd::scf {

DEFINE_KERNEL_GLOBAL(ScfState, scf_state);
DEFINE_PER_CPU(int64_t, scf_invoked_count);

bool take_plant(Plant plant) {
  Plant* planted_now = &(&scf_state)->run->plant;
  if (data_race_read(planted_now) != plant) return false;
  data_race_write(planted_now, Plant::none);
  return true;
}

void verbose_torout_sleep() {
  ScfState* st = &scf_state;
  const int frequency = st->params->verbose_sleep_frequency;
  const int duration = st->params->verbose_sleep_duration;
  if (frequency <= 0 || duration <= 0) return;
  const unsigned lines = data_race_read(&st->verbose_lines) + 1;
  data_race_write(&st->verbose_lines, lines);
  if (lines % static_cast<unsigned>(frequency) == 0) {
    kernel::schedule_timeout_interruptible(static_cast<uint64_t>(duration));
  }
}

void progress_made() {
  Progress* progress = &(&scf_state)->progress;
  data_race_write(&progress->count, data_race_read(&progress->count) + 1);
  if (data_race_read(&progress->waiting.head)) sd_wake_all(&progress->waiting);
}

uint32_t progress_now() {
  return data_race_read(&(&scf_state)->progress.count);
}

void progress_wait(uint32_t seen) {
  Progress* progress = &(&scf_state)->progress;
  while (progress_now() == seen && !torture_must_stop()) sd_block_on(&progress->waiting, __func__);
}

void outstanding_add(int* counter, int n) {
  data_race_write(counter, data_race_read(counter) + n);
}

void outstanding_done(int* counter) {
  ScfState* st = &scf_state;
  sd_sync_release(&st->outstanding);
  outstanding_add(counter, -1);
  if (!data_race_read(&st->quiescing)) return;
  if (data_race_read(&st->outstanding) > 0 || data_race_read(&st->outstanding_null) > 0) return;
  kernel::wake_up_process(st->main_task);
}

}  // namespace sd::scf
