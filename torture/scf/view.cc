#include "torture/scf/view.h"

#include "core/kernel/percpu.h"

namespace sd::scf {

using kernel::data_race_read;
using kernel::data_race_write;
using kernel::nr_cpu_ids;

namespace {

struct HotplugGhost {
  uint32_t seq;
  unsigned cpu;  // of the current or last operation
};

DEFINE_KERNEL_GLOBAL(HotplugGhost, scf_hotplug_ghost);
DEFINE_PER_CPU(uint32_t,
               scf_hotplug_last);  // seq of the last beginning or end of an operation of this CPU

void step(unsigned cpu) {
  HotplugGhost* ghost = &scf_hotplug_ghost;
  const uint32_t seq = data_race_read(&ghost->seq) + 1;
  data_race_write(&ghost->seq, seq);
  data_race_write(&ghost->cpu, cpu);
  data_race_write(per_cpu_ptr(scf_hotplug_last, cpu), seq);
}

uint64_t online_word(unsigned word) {
  return data_race_read(&kernel::cpu_online_mask()->bits[word]);
}

bool in_words(const uint64_t* words, unsigned cpu) {
  return (words[cpu / kernel::kBitsPerLong] & kernel::cpumask_bit(cpu)) != 0;
}

}  // namespace

int scf_hotplug(unsigned cpu, bool up, const char* fn) {
  step(cpu);
  const int ret = up ? sd_cpu_up(cpu, fn) : sd_cpu_down(cpu, fn);
  step(cpu);
  return ret;
}

uint32_t hotplug_seq() {
  return data_race_read(&(&scf_hotplug_ghost)->seq);
}

bool hotplug_busy(unsigned cpu) {
  const HotplugGhost* ghost = &scf_hotplug_ghost;
  return data_race_read(&ghost->seq) % 2 == 1 && data_race_read(&ghost->cpu) == cpu;
}

// The end of an operation that was under way at `seq` has a greater number.
bool hotplug_since(unsigned cpu, uint32_t seq) {
  return hotplug_busy(cpu) || data_race_read(per_cpu_ptr(scf_hotplug_last, cpu)) > seq;
}

bool is_online(unsigned cpu) {
  return (online_word(cpu / kernel::kBitsPerLong) & kernel::cpumask_bit(cpu)) != 0;
}

void view_begin(View* view, bool locked) {
  view->seq = hotplug_seq();
  view->locked = locked;
  for (unsigned w = 0; w < kernel::cpumask_words(); ++w) view->online[w] = online_word(w);
}

bool view_touched(const View* view, unsigned cpu) {
  return !view->locked && hotplug_since(cpu, view->seq);
}

// Within one operation the online bit goes down once, or up and perhaps (rolled back) down again.
// So a CPU that is online at both ends of a time in which at most one operation was under way, was
// so all the time.
Fate view_fate(const View* view, unsigned cpu) {
  const bool before = in_words(view->online, cpu);
  if (!view_touched(view, cpu)) return before ? Fate::always : Fate::never;
  if (before && is_online(cpu) && hotplug_seq() - view->seq <= 1) return Fate::always;
  return Fate::maybe;
}

unsigned view_changed(const View* view) {
  for (unsigned w = 0; w < kernel::cpumask_words(); ++w) {
    const uint64_t changed = online_word(w) ^ view->online[w];
    if (changed) return w * kernel::kBitsPerLong + static_cast<unsigned>(std::countr_zero(changed));
  }
  return nr_cpu_ids();
}

}  // namespace sd::scf
