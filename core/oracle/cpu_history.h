// Since when a property of each CPU (being online, say) has had its value. Instants are numbers
// that the owner counts; intervals end now, so one change per CPU is all that has to be remembered.
#pragma once

#include <cstdint>
#include <vector>

#include "core/oracle/cpu_set.h"

namespace sd::oracle {

class CpuHistory {
 public:
  // All CPUs start without the property, since for ever.
  void reset(unsigned cpus) {
    now_ = CpuSet{};
    changed_.assign(cpus, 0);
    last_change_ = 0;
  }
  void start_with(unsigned cpu) { now_.add(cpu); }

  void set(unsigned cpu, bool value, uint64_t instant) {
    if (now_.has(cpu) == value) return;
    value ? now_.add(cpu) : now_.remove(cpu);
    changed_[cpu] = last_change_ = instant;
  }

  const CpuSet& now() const { return now_; }
  bool has(unsigned cpu) const { return now_.has(cpu); }
  // In the whole of [from, now]; at some instant of it.
  bool throughout(unsigned cpu, uint64_t from) const { return has(cpu) && changed_[cpu] < from; }
  bool sometime(unsigned cpu, uint64_t from) const { return has(cpu) || changed_[cpu] >= from; }

  CpuSet throughout(uint64_t from) const {
    CpuSet set = now_;
    if (last_change_ < from) return set;
    for (unsigned cpu = 0; cpu < changed_.size(); ++cpu) {
      if (changed_[cpu] >= from) set.remove(cpu);
    }
    return set;
  }
  CpuSet sometime(uint64_t from) const {
    CpuSet set = now_;
    if (last_change_ < from) return set;
    for (unsigned cpu = 0; cpu < changed_.size(); ++cpu) {
      if (changed_[cpu] >= from) set.add(cpu);
    }
    return set;
  }

 private:
  CpuSet now_;
  std::vector<uint64_t> changed_;  // instant of the last change, by CPU
  uint64_t last_change_ = 0;
};

}  // namespace sd::oracle
