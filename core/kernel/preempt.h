// preempt_count, interrupt flags and the identity of the CPU.
#pragma once

#include "core/machine/sd.h"

namespace sd::kernel {

static inline unsigned nr_cpu_ids() {
  return sd_nr_cpus();
}
static inline unsigned smp_processor_id() {
  return sd_this_cpu();
}
static inline unsigned raw_smp_processor_id() {
  return sd_this_cpu();
}

static inline void preempt_disable(const char* fn = __builtin_FUNCTION()) {
  sd_preempt_disable(fn);
}
static inline void preempt_enable(const char* fn = __builtin_FUNCTION()) {
  sd_preempt_enable(fn);
}
static inline unsigned get_cpu(const char* fn = __builtin_FUNCTION()) {
  sd_preempt_disable(fn);
  return sd_this_cpu();
}
static inline void put_cpu(const char* fn = __builtin_FUNCTION()) {
  sd_preempt_enable(fn);
}

static inline void local_irq_disable(const char* fn = __builtin_FUNCTION()) {
  sd_local_irq_disable(fn);
}
static inline void local_irq_enable(const char* fn = __builtin_FUNCTION()) {
  sd_local_irq_enable(fn);
}
static inline bool local_irq_save(const char* fn = __builtin_FUNCTION()) {
  return sd_local_irq_save(fn);
}
static inline void local_irq_restore(bool flags, const char* fn = __builtin_FUNCTION()) {
  sd_local_irq_restore(flags, fn);
}
static inline bool irqs_disabled() {
  return sd_irqs_disabled();
}
static inline bool in_task() {
  return sd_in_task();
}
static inline bool in_hardirq() {
  return sd_hardirq_depth() > 0;
}
static inline void might_sleep(const char* fn = __builtin_FUNCTION()) {
  sd_might_sleep(fn);
}
static inline void cond_resched(const char* fn = __builtin_FUNCTION()) {
  sd_cond_resched(fn);
}
static inline bool preempt_model_full() {
  return sd_preempt_model_full();
}

}  // namespace sd::kernel
