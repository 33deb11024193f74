#include "core/oracle/run_counts.h"

namespace sd::oracle {

RunCounts::Function& RunCounts::function(smp::smp_call_func_t func) {
  for (Function& entry : functions_) {
    if (entry.func == func) return entry;
    if (entry.func == nullptr) {
      entry.func = func;
      return entry;
    }
  }
  return functions_.back();
}

const RunCounts::Function* RunCounts::find(smp::smp_call_func_t func) const {
  for (const Function& entry : functions_) {
    if (entry.func == func) return &entry;
  }
  return nullptr;
}

uint64_t RunCounts::expected_runs_of(smp::smp_call_func_t func) const {
  const Function* entry = find(func);
  return entry ? entry->expected : 0;
}

uint64_t RunCounts::runs_of(smp::smp_call_func_t func) const {
  const Function* entry = find(func);
  return entry ? entry->runs : 0;
}

}  // namespace sd::oracle
