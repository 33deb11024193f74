#include "core/engine/action.h"

namespace sd::engine {

void ActionSet::reset(uint32_t capacity) {
  if (position_.size() != capacity) {
    position_.assign(capacity, kAbsent);
    items_.clear();
    items_.reserve(capacity);  // nothing is allocated in the middle of an execution
  } else {
    for (const Action& action : items_) position_[action.id] = kAbsent;
    items_.clear();
  }
  calm_ = disturbing_ = 0;
  changes_ += kChangesKept + 1;
}

}  // namespace sd::engine
