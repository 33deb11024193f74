// Races that ThreadSanitizer reports, as failures of the execution they happen in. It goes on after
// a report, so that the same choices come to the same end in every build flavour.
#pragma once

#include <string>

#include "core/engine/chooser.h"
#include "core/engine/failure.h"
#include "torture/report.h"

namespace sd::torture {

// Hands every question on; shows the events around the first race at the next one. In other
// flavours there are no races to see.
class RaceWatch final : public engine::Chooser {
 public:
  // The watch begins; one at a time.
  RaceWatch(engine::Chooser* inner, const ShownEvents& shown);

  void begin(uint64_t seed) override { inner_->begin(seed); }
  uint32_t pick(const engine::ActionSet& actions) override {
    look();
    return inner_->pick(actions);
  }
  uint32_t number(uint32_t n, engine::Purpose purpose) override {
    look();
    return inner_->number(n, purpose);
  }
  const char* description() const override { return inner_->description(); }

  bool seen() const;
  // Where, as far as the process knows: failure_of_death() reads the rest from what
  // the sanitizer wrote.
  engine::Failure failure() const;
  // The last events; empty if no choice came after the race.
  const std::string& events() const { return events_; }

 private:
  void look() {
    if (seen() && events_.empty()) show();
  }
  void show();

  engine::Chooser* inner_;
  ShownEvents shown_;
  std::string events_;
};

// Whether this process can see races. One that has seen one does not report the same race again: it
// should not run another execution.
bool watches_races();

}  // namespace sd::torture
