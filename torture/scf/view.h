// What the torture knows about the online mask without asking the code under test. All hotplug
// goes through scf_hotplug(), one operation at a time; so a caller can say afterwards of each CPU
// whether it was online all the time since some moment, never, or whether that is not known. Ghost
// state: no scheduling points, invisible to race detection.
#pragma once

#include "core/kernel/cpumask.h"

namespace sd::scf {

// 0, or -errno. Brings the CPU up or down; the caller is the only one to do so.
int scf_hotplug(unsigned cpu, bool up, const char* fn = __builtin_FUNCTION());

enum class Fate : uint8_t { never, maybe, always };

// A moment, for questions about what has happened since. On the caller's stack.
struct View {
  uint32_t seq;  // counts beginnings and ends of hotplug operations: odd in the middle of one
  bool locked;   // cpus_read_lock is held from now on: nothing may change
  uint64_t online[kernel::kNrCpus / kernel::kBitsPerLong];
};

void view_begin(View* view, bool locked);
// Whether a hotplug operation of this CPU was under way at any time since.
bool view_touched(const View* view, unsigned cpu);
// Whether it was online since.
Fate view_fate(const View* view, unsigned cpu);
// With the lock held: the first CPU whose online bit has changed since, or nr_cpu_ids().
unsigned view_changed(const View* view);

// The number of the last beginning or end of an operation, and whether one of this CPU has begun
// after it, or was under way then.
uint32_t hotplug_seq();
bool hotplug_since(unsigned cpu, uint32_t seq);
bool hotplug_busy(unsigned cpu);

// cpu_online() for the torture's own purposes: no scheduling point.
bool is_online(unsigned cpu);

}  // namespace sd::scf
