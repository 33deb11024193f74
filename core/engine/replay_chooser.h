// Answers what a list of choices says, and 0 after its end. So a list can be cut off anywhere, and
// the empty one is the calm execution.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/chooser.h"

namespace sd::engine {

// Where and why an execution stopped following its recording.
struct Divergence {
  uint64_t index = 0;  // of the choice, from 0
  Choice expected;     // as recorded
  Choice found;        // what was asked for; its value means nothing

  // "choice 17: the recording answers 3 to one of 5 actions, this execution asks for a number
  // below 4 for op_kind": for the user; one line.
  std::string text() const;
};

// Every recorded choice must be of the kind, count and purpose that is asked for. Choices with
// count 0 say nothing about that (calm runs in a replay file do not); they are followed if their
// value fits. From the first mismatch on every answer is 0: the driver should stop when diverged()
// is set.
class ReplayChooser final : public Chooser {
 public:
  explicit ReplayChooser(std::vector<Choice> choices) : choices_(std::move(choices)) {}

  void begin(uint64_t) override {
    next_ = 0;
    diverged_ = false;
  }
  uint32_t pick(const ActionSet& actions) override {
    return answer(Choice{0, actions.size(), true, Purpose::test});
  }
  uint32_t number(uint32_t n, Purpose purpose) override {
    return answer(Choice{0, n, false, purpose});
  }
  const char* description() const override { return "replay"; }

  bool diverged() const { return diverged_; }
  // Meaningful if diverged().
  const Divergence& divergence() const { return divergence_; }
  // How many choices were followed, and whether that was all of them.
  uint64_t position() const { return next_; }
  bool at_end() const { return next_ >= choices_.size(); }

 private:
  uint32_t answer(const Choice& asked);

  std::vector<Choice> choices_;
  uint64_t next_ = 0;
  bool diverged_ = false;
  Divergence divergence_;
};

}  // namespace sd::engine
