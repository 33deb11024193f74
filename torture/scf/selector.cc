#include "torture/scf/selector.h"

namespace sd::scf {

namespace {

struct PrimInfo {
  const char* weight;
  const char* name;
  bool waits;
  // Default weight: per_cpu * number of CPUs + fixed. The kernel's own for its eight primitives.
  uint8_t per_cpu;
  uint8_t fixed;
};

constexpr PrimInfo kInfo[] = {
    {"weight_resched", "resched_cpu", false, 2, 0},
    {"weight_single", "smp_call_function_single", false, 2, 0},
    {"weight_single_rpc", "smp_call_function_single_rpc", true, 2, 0},
    {"weight_single_wait", "smp_call_function_single", true, 2, 0},
    {"weight_many", "smp_call_function_many", false, 0, 2},
    {"weight_many_wait", "smp_call_function_many", true, 0, 2},
    {"weight_all", "smp_call_function", false, 0, 1},
    {"weight_all_wait", "smp_call_function", true, 0, 1},
    {"weight_any", "smp_call_function_any", false, 1, 0},
    {"weight_any_wait", "smp_call_function_any", true, 1, 0},
    {"weight_single_async", "smp_call_function_single_async", false, 1, 0},
    {"weight_cond", "on_each_cpu_cond", false, 0, 2},
    {"weight_cond_wait", "on_each_cpu_cond", true, 0, 4},
    {"weight_on_each", "on_each_cpu", false, 0, 1},
    {"weight_on_each_wait", "on_each_cpu", true, 0, 4},
    {"weight_on_cpu", "smp_call_on_cpu", true, 0, 1},
    {"weight_irq_work", "irq_work_queue_on", false, 1, 0},
    {"weight_kick_all", "kick_all_cpus_sync", true, 0, 1},
    {"weight_relay", "smp_call_function_single_async_relay", false, 1, 0},
};
static_assert(sizeof(kInfo) / sizeof(kInfo[0]) == kPrims);

constexpr uint64_t kMaxTotal = 0xfffffffe;

const PrimInfo& info(Prim prim) {
  return kInfo[static_cast<unsigned>(prim)];
}

}  // namespace

const char* prim_weight_name(Prim prim) {
  return info(prim).weight;
}
const char* prim_name(Prim prim) {
  return info(prim).name;
}
bool prim_waits(Prim prim) {
  return info(prim).waits;
}

const char* selector_error_text(SelectorError error) {
  switch (error) {
    case SelectorError::none:
      return nullptr;
    case SelectorError::all_zero:
      return "all zero weights makes no sense";
    case SelectorError::too_large:
      return "weights must be -1 (default) or more, their sum below 2^32 - 1";
  }
  return nullptr;
}

SelectorError build_selector(const std::array<int, kPrims>& weights, unsigned nr_cpus,
                             Selector* out) {
  bool any_given = false;
  for (int weight : weights) any_given |= weight > 0;

  *out = Selector{};
  for (unsigned i = 0; i < kPrims; ++i) {
    int64_t weight = weights[i];
    if (!any_given && weight != 0) {
      weight = static_cast<int64_t>(kInfo[i].per_cpu) * nr_cpus + kInfo[i].fixed;
    } else if (weight == -1) {
      weight = 0;
    }
    if (weight == 0) continue;
    if (weight < 0) return SelectorError::too_large;
    out->total += static_cast<uint64_t>(weight);
    if (out->total > kMaxTotal) return SelectorError::too_large;
    out->entry[out->count++] = {out->total, static_cast<Prim>(i)};
  }
  return out->count == 0 ? SelectorError::all_zero : SelectorError::none;
}

Prim pick(const Selector& selector, uint64_t w) {
  for (unsigned i = 0; i < selector.count; ++i) {
    if (selector.entry[i].cumulative >= w) return selector.entry[i].prim;
  }
  return selector.entry[0].prim;
}

}  // namespace sd::scf
