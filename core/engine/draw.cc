#include "core/engine/draw.h"

namespace sd::engine {

bool draws_uniformly(Purpose purpose) {
  switch (purpose) {
    case Purpose::alloc_fail:
    case Purpose::hotplug_fail:
    case Purpose::hotplug_state:
    case Purpose::disable_fail:
    case Purpose::op_kind:
    case Purpose::op_cpu:
    case Purpose::op_mask:
    case Purpose::op_value:
    case Purpose::handler_delay:
    case Purpose::sleep_fuzz:
    case Purpose::onoff_cpu:
      return true;
    case Purpose::next_task:
    case Purpose::wake_cpu:
    case Purpose::wake_path:
    case Purpose::migrate_task:
    case Purpose::migrate_cpu:
    case Purpose::irq_kept:
    case Purpose::idle_kind:
    case Purpose::host_steal:
    case Purpose::test:
      return false;
    case Purpose::count_:
      break;
  }
  return false;
}

uint32_t draw_number(Rng& rng, uint32_t n, Purpose purpose) {
  const uint64_t random = rng.next();
  // One draw serves both questions: the lowest bit is not among the 32 that become the number.
  if (!draws_uniformly(purpose) && (random & 1) == 0) return 0;
  return static_cast<uint32_t>(((random >> 32) * n) >> 32);
}

}  // namespace sd::engine
