#include "core/kernel/softirq.h"

#include "core/kernel/bug.h"

namespace sd::kernel {

DEFINE_PER_CPU(uint32_t, softirq_pending);
DEFINE_PER_CPU(bool, softirq_serving);

namespace {

void (*actions[kSoftirqs])(void);

}  // namespace

void open_softirq(unsigned nr, void (*action)(void)) {
  actions[nr] = action;
}

void raise_softirq_irqoff(unsigned nr, const char* fn) {
  WARN_ON_ONCE(!irqs_disabled());
  *this_cpu_ptr(softirq_pending) |= 1u << nr;
  sd_trace(sd_event_softirq_raise, nullptr, nr, 0, fn);
}

void do_softirq(const char* fn) {
  bool* serving = this_cpu_ptr(softirq_serving);
  if (*serving) return;
  *serving = true;
  preempt_disable(fn);
  uint32_t* pending = this_cpu_ptr(softirq_pending);
  while (const uint32_t batch = *pending) {
    *pending = 0;
    local_irq_enable(fn);
    for (unsigned nr = 0; nr < kSoftirqs; ++nr) {
      if (!(batch & 1u << nr)) continue;
      sd_trace(sd_event_softirq_entry, nullptr, nr, 0, fn);
      actions[nr]();
      sd_trace(sd_event_softirq_exit, nullptr, nr, 0, fn);
    }
    local_irq_disable(fn);
  }
  preempt_enable(fn);
  *serving = false;
}

void irq_exit() {
  if (local_softirq_pending()) do_softirq(__func__);
}

int softirq_cpu_starting(unsigned cpu) {
  *per_cpu_ptr(softirq_pending, cpu) = 0;
  return 0;
}

}  // namespace sd::kernel
