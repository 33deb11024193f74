#include "torture/race_watch.h"

#include "core/machine/machine.h"

namespace sd::torture {

namespace {

// What the hook notes: it runs inside ThreadSanitizer, so no more than plain values.
struct Race {
  bool seen = false;
  uint64_t step = 0;
  engine::Event last;
};
Race first_race;

}  // namespace

RaceWatch::RaceWatch(engine::Chooser* inner, const ShownEvents& shown)
    : inner_(inner), shown_(shown) {
  first_race = Race{};
}

bool RaceWatch::seen() const {
  return first_race.seen;
}

engine::Failure RaceWatch::failure() const {
  engine::Failure failure;
  failure.kind = engine::FailureKind::data_race;
  failure.id = "data-race";
  failure.message = "ThreadSanitizer saw plain accesses that nothing orders";
  failure.function = first_race.last.function;
  failure.cpu = first_race.last.cpu;
  failure.task = machine::task_name(first_race.last.task);
  failure.step = first_race.step;
  failure.time_ns = first_race.last.time_ns;
  return failure;
}

void RaceWatch::show() {
  machine::Outcome outcome;
  outcome.failure = failure();
  events_ = events_report(outcome, shown_);
  if (events_.empty()) events_ = "\n";
}

bool watches_races() {
#if defined(SD_TSAN)
  return true;
#else
  return false;
#endif
}

#if defined(SD_TSAN)
// Called by ThreadSanitizer before it prints a report.
extern "C" void __tsan_on_report(void*) {
  const engine::Trace& trace = machine::trace();
  if (first_race.seen || trace.count() == 0) return;
  first_race.step = machine::steps_now();
  first_race.last = trace.recent(0);
  first_race.seen = true;
}
#endif

}  // namespace sd::torture
