#include "core/series/series.h"

#include <array>
#include <cstdlib>

namespace sd::series {
namespace {

constexpr Prerequisite kNeeds02[] = {{Patch::p01, false}};
constexpr Prerequisite kNeeds03[] = {{Patch::p02, false}};
constexpr Prerequisite kNeeds06[] = {{Patch::p01, false}, {Patch::p04, true}, {Patch::p05, true}};
constexpr Prerequisite kNeeds07[] = {{Patch::p06, true}};
constexpr Prerequisite kNeeds08[] = {{Patch::p06, true}};
constexpr Prerequisite kNeeds09[] = {{Patch::p06, true}, {Patch::p07, true}};
constexpr Prerequisite kNeeds7x[] = {{Patch::v6_17, false}};
constexpr Prerequisite kNeeds06Merged[] = {{Patch::p06, false}};

#define SD_POSTED(number) \
  "LKML series \"Allow preemption during IPI completion waiting\", v6, " number

constexpr PatchInfo kPatches[] = {
    {Patch::p01,
     PatchKind::patch,
     "P01",
     "smp: Disable preemption explicitly in __csd_lock_wait()",
     SD_POSTED("1/12"),
     "The timing loop of the csd-lock debugging disables preemption itself instead of relying on "
     "its caller, so that it never counts time that other tasks took.",
     {}},
    {Patch::p02, PatchKind::patch, "P02",
     "smp: Enable preemption early in smp_call_function_single()", SD_POSTED("2/12"),
     "put_cpu() comes directly after the request is queued and sent; the wait on the csd of the "
     "caller's stack is preemptible.",
     kNeeds02},
    {Patch::p03, PatchKind::patch, "P03",
     "smp: Refactor remote CPU selection in smp_call_function_any()", SD_POSTED("3/12"),
     "The CPU is chosen inside the section of the single-CPU call that also queues, so that "
     "smp_call_function_any() needs no section of its own around the wait.",
     kNeeds03},
    {Patch::p04,
     PatchKind::patch,
     "P04",
     "smp: Use task-local IPI cpumask in smp_call_function_many_cond()",
     SD_POSTED("4/12"),
     "The set of CPUs to wait for moves from the calling CPU to the calling task: a word in the "
     "task where that is enough, else a mask allocated at fork.",
     {}},
    {Patch::p05,
     PatchKind::patch,
     "P05",
     "smp: Alloc percpu csd data in smpcfd_prepare_cpu() only once",
     SD_POSTED("5/12"),
     "The csds of a CPU are allocated when it first comes up and never freed.",
     {}},
    {Patch::p06, PatchKind::patch, "P06",
     "smp: Enable preemption early in smp_call_function_many_cond()", SD_POSTED("6/12"),
     "smp_call_function_many_cond() disables preemption itself, and only until every request is "
     "queued and sent and the local part has run; a task with a mask of its own waits "
     "preemptibly.",
     kNeeds06},
    {Patch::p07, PatchKind::patch, "P07", "smp: Remove preempt_disable() from smp_call_function()",
     SD_POSTED("7/12"), "smp_call_function() no longer disables preemption around the call.",
     kNeeds07},
    {Patch::p08, PatchKind::patch, "P08",
     "smp: Remove preempt_disable() from on_each_cpu_cond_mask()", SD_POSTED("8/12"),
     "on_each_cpu_cond_mask() and the functions built on it no longer disable preemption around "
     "the call.",
     kNeeds08},
    {Patch::p09, PatchKind::patch, "P09",
     "scftorture: Remove preempt_disable() in scftorture_invoke_one()", SD_POSTED("9/12"),
     "The torture calls with preemption enabled, and checks a multi-CPU call's result only where "
     "the set of online CPUs cannot have grown in between.",
     kNeeds09},
    {Patch::v6_17,
     PatchKind::level,
     "v6.17",
     "changes of kernel/smp.c from 6.13 to 6.17",
     "Linux 6.17, smp/core",
     "smp_call_function_any() looks for the nearest CPU by NUMA distance; a multi-CPU call tests "
     "whether it runs locally only after the remote part, and waits only if it queued something.",
     {}},
    {Patch::v7x, PatchKind::level, "v7.x", "changes of kernel/smp.c from 7.0 on", "Linux 7.x",
     "The csd-lock debugging records what a CPU is executing with store-releases instead of "
     "barriers around plain stores.",
     kNeeds7x},
    {Patch::p06_merged, PatchKind::form, "P06-merged", "P06 as merged",
     "tip smp/core 8df8a6028309, for 7.3",
     "put_cpu() before the wait is unconditional: also a task without a mask of its own waits "
     "preemptibly, on the mask of the CPU.",
     kNeeds06Merged},
};
#undef SD_POSTED

constexpr unsigned number(Patch patch) {
  return static_cast<unsigned>(patch);
}

PatchSet of(std::initializer_list<Patch> patches) {
  PatchSet set;
  for (Patch patch : patches) set.set(number(patch));
  return set;
}

const std::array<NamedSet, 4>& sets() {
  static const PatchSet posted = of({Patch::p01, Patch::p02, Patch::p03, Patch::p04, Patch::p05,
                                     Patch::p06, Patch::p07, Patch::p08, Patch::p09});
  static const std::array<NamedSet, 4> sets{{
      {"base", "Linux 6.12", {}},
      {"base-6.17", "Linux 6.17", of({Patch::v6_17})},
      {"posted", "Linux 6.12 with the series as posted (v6)", posted},
      {"merged", "the series as merged for Linux 7.3",
       posted | of({Patch::v6_17, Patch::v7x, Patch::p06_merged})},
  }};
  return sets;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace

std::span<const PatchInfo> all() {
  return kPatches;
}

const PatchInfo& info(Patch patch) {
  for (const PatchInfo& entry : kPatches) {
    if (entry.patch == patch) return entry;
  }
  std::abort();  // not a value of the enumeration
}

const PatchInfo* find(std::string_view name) {
  for (const PatchInfo& entry : kPatches) {
    if (same_name(entry.name, name)) return &entry;
  }
  return nullptr;
}

std::span<const NamedSet> named_sets() {
  return sets();
}

std::optional<PatchSet> find_set(std::string_view name) {
  for (const NamedSet& set : sets()) {
    if (same_name(set.name, name)) return set.patches;
  }
  return std::nullopt;
}

std::vector<std::string_view> sets_with(Patch patch) {
  std::vector<std::string_view> names;
  for (const NamedSet& set : sets()) {
    if (has(set.patches, patch)) names.push_back(set.name);
  }
  return names;
}

std::vector<Unmet> unmet(const PatchSet& set) {
  std::vector<Unmet> result;
  for (const PatchInfo& entry : kPatches) {
    if (!has(set, entry.patch)) continue;
    for (const Prerequisite& need : entry.needs) {
      if (need.safety && !has(set, need.patch)) result.push_back({entry.patch, need.patch});
    }
  }
  return result;
}

}  // namespace sd::series
