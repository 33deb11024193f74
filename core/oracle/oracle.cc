#include "core/oracle/oracle.h"

#include <utility>

#include "core/engine/check.h"
#include "core/machine/machine.h"

namespace sd::oracle {

void machine_sink(engine::Failure failure) {
  machine::fail(std::move(failure));
}

void Oracle::report(const char* id, const Event& where, engine::Failure& failure) const {
  failure.kind = engine::FailureKind::invariant;
  failure.id = id;
  failure.function = where.function;
  failure.cpu = where.cpu;
  failure.task = view_->task_name(where.task);
  failure.step = where.step;
  failure.time_ns = where.time_ns;
  sink_(std::move(failure));
  constexpr bool kSinkReturned = true;
  SD_CHECK(!kSinkReturned);
  __builtin_unreachable();
}

}  // namespace sd::oracle
