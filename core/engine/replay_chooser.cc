#include "core/engine/replay_chooser.h"

namespace sd::engine {
namespace {

bool fits(const Choice& recorded, const Choice& asked) {
  if (recorded.value >= asked.count) return false;
  if (recorded.count == 0) return true;
  if (recorded.count != asked.count || recorded.is_action != asked.is_action) return false;
  return recorded.is_action || recorded.purpose == asked.purpose;
}

// "one of 5 actions", "a number below 4 for op_kind"
std::string question(const Choice& choice) {
  const std::string count = std::to_string(choice.count);
  if (choice.is_action) return "one of " + count + " actions";
  return "a number below " + count + " for " + purpose_name(choice.purpose);
}

}  // namespace

uint32_t ReplayChooser::answer(const Choice& asked) {
  if (diverged_ || at_end()) return 0;
  const Choice& recorded = choices_[next_];
  if (fits(recorded, asked)) {
    ++next_;
    return recorded.value;
  }
  diverged_ = true;
  divergence_ = Divergence{next_, recorded, asked};
  return 0;
}

std::string Divergence::text() const {
  const std::string value = std::to_string(expected.value);
  return "choice " + std::to_string(index) + ": the recording answers " + value +
         (expected.count == 0 ? "" : " to " + question(expected)) + ", this execution asks for " +
         question(found);
}

}  // namespace sd::engine
