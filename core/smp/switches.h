// The switches by their short names, and the assertions of lockdep, which is on in this kernel.
#pragma once

#include "core/kernel/bug.h"
#include "core/kernel/preempt.h"
#include "core/kernel/switches.h"

namespace sd::smp {

using bugs::Bug;
using kernel::Param;
using series::Patch;

// An oops ends the execution, so code that is exempted while one is in progress never is.
inline constexpr bool oops_in_progress = false;

}  // namespace sd::smp

// Without CONFIG_PREEMPTION there is no preempt_count to look at.
#define lockdep_assert_preemption_disabled()                                    \
  WARN_ON_ONCE(::sd::kernel::preempt_model_full() && sd_preempt_count() == 0 && \
               !::sd::kernel::irqs_disabled())
#define lockdep_assert_irqs_enabled() WARN_ON_ONCE(::sd::kernel::irqs_disabled())
#define lockdep_assert_irqs_disabled() WARN_ON_ONCE(!::sd::kernel::irqs_disabled())
