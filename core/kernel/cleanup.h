// Scope guards in the kernel's form: guard(preempt)(); ends with the enclosing scope.
#pragma once

#include "core/kernel/preempt.h"
#include "core/kernel/rcupdate.h"

namespace sd::kernel {

struct guard_preempt {
  guard_preempt() { preempt_disable("guard"); }
  ~guard_preempt() { preempt_enable("guard"); }
  guard_preempt(const guard_preempt&) = delete;
  guard_preempt& operator=(const guard_preempt&) = delete;
};

struct guard_rcu {
  guard_rcu() { rcu_read_lock("guard"); }
  ~guard_rcu() { rcu_read_unlock("guard"); }
  guard_rcu(const guard_rcu&) = delete;
  guard_rcu& operator=(const guard_rcu&) = delete;
};

struct guard_irqsave {
  guard_irqsave() : flags_(local_irq_save("guard")) {}
  ~guard_irqsave() { local_irq_restore(flags_, "guard"); }
  guard_irqsave(const guard_irqsave&) = delete;
  guard_irqsave& operator=(const guard_irqsave&) = delete;

 private:
  bool flags_;
};

}  // namespace sd::kernel

#define SD_GUARD_CAT2(a, b) a##b
#define SD_GUARD_CAT(a, b) SD_GUARD_CAT2(a, b)
#define guard(what) const ::sd::kernel::guard_##what SD_GUARD_CAT(sd_guard_, __LINE__)
