// Keeps every answer of another chooser in a ChoiceLog.
#pragma once

#include "core/engine/choice_log.h"
#include "core/engine/chooser.h"

namespace sd::engine {

class Recorder final : public Chooser {
 public:
  // Neither is owned.
  Recorder(Chooser* inner, ChoiceLog* log) : inner_(inner), log_(log) {}

  // The index that the next begin() writes into the log, and counts up from there.
  void set_next_execution(uint64_t index) { next_execution_ = index; }

  void begin(uint64_t seed) override {
    inner_->begin(seed);
    log_->begin(next_execution_++, seed);
  }
  uint32_t pick(const ActionSet& actions) override {
    return record(Choice{inner_->pick(actions), actions.size(), true, Purpose::test});
  }
  uint32_t number(uint32_t n, Purpose purpose) override {
    return record(Choice{inner_->number(n, purpose), n, false, purpose});
  }
  const char* description() const override { return inner_->description(); }

 private:
  [[gnu::always_inline]] uint32_t record(const Choice& choice) {
    SD_CHECK(choice.value < choice.count && choice.count <= kMaxChoiceCount);
    // Who asks where there is nothing to choose makes replays longer for nothing.
    SD_CHECK(choice.count > 1);
    log_->append(choice);
    return choice.value;
  }

  Chooser* inner_;
  ChoiceLog* log_;
  uint64_t next_execution_ = 0;
};

}  // namespace sd::engine
