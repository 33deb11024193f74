#include "core/engine/chooser.h"

#include <cstring>
#include <iterator>

namespace sd::engine {
namespace {

// In the order of Purpose.
constexpr const char* kNames[] = {
    "alloc_fail",    "next_task",  "wake_cpu",  "wake_path",    "migrate_task",
    "migrate_cpu",   "irq_kept",   "idle_kind", "hotplug_fail", "hotplug_state",
    "disable_fail",  "op_kind",    "op_cpu",    "op_mask",      "op_value",
    "handler_delay", "sleep_fuzz", "onoff_cpu", "host_steal",   "test",
};
static_assert(std::size(kNames) == static_cast<size_t>(Purpose::count_));

}  // namespace

const char* purpose_name(Purpose purpose) {
  return purpose < Purpose::count_ ? kNames[static_cast<uint8_t>(purpose)] : "?";
}

Purpose purpose_from_name(const char* name) {
  for (uint8_t i = 0; i < static_cast<uint8_t>(Purpose::count_); ++i) {
    if (std::strcmp(name, kNames[i]) == 0) return static_cast<Purpose>(i);
  }
  return Purpose::count_;
}

}  // namespace sd::engine
