// What oracles read of the machine besides events: a few plain values, without scheduling points
// and without the memory model. The default reads the machine; tests put their own values in its
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/series/series.h"

namespace sd::oracle {

class View {
 public:
  virtual ~View() = default;

  virtual unsigned nr_cpus() const;
  virtual bool cpu_online(unsigned cpu) const;
  virtual bool cpu_active(unsigned cpu) const;
  // Of the context that emits the current event.
  virtual unsigned preempt_count() const;
  virtual bool irqs_disabled() const;
  virtual bool in_task() const;
  virtual bool is_idle(unsigned task) const;  // of a CPU's idle task, by id
  // One of the two vectors of cross-CPU calls is pending for, or in flight to, the CPU.
  virtual bool call_ipi_pending(unsigned cpu) const;
  virtual bool irq_pending(unsigned cpu) const;  // any vector
  virtual uint32_t softirqs_pending(unsigned cpu) const;
  // Address of the CPU's call_single_queue; an identity.
  virtual const volatile void* queue_head(unsigned cpu) const;
  // Whether the object may be read (not freed; what is not of the heap always may).
  virtual bool readable(const volatile void* p, size_t size) const;
  // The words of the system's masks; identities.
  virtual const volatile void* online_mask() const;
  virtual const volatile void* active_mask() const;
  // What the kernel under test is: which patches it has.
  virtual bool patch(series::Patch patch) const;
  // The wait mask and the csds of a CPU's call_function_data; identities, which may change
  // while the CPU is down.
  virtual const volatile void* cpu_mask(unsigned cpu) const;
  virtual const volatile void* cpu_csds(unsigned cpu) const;
  // What csd_lock_is_stuck() says.
  virtual bool csd_lock_stuck() const;
  // After how long csd debugging complains for the first time; 0: never.
  virtual uint64_t csd_lock_timeout_ns() const;
  // For messages: never an address.
  virtual std::string task_name(unsigned task) const;
  virtual std::string describe(const volatile void* p) const;
};

const View& machine_view();

}  // namespace sd::oracle
