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

void ActionSet::put(uint32_t id, ActionClass cls, OpKind op, const volatile void* addr) {
  uint32_t at = position_[id];
  if (at == kAbsent) {
    at = size();
    position_[id] = at;
    items_.emplace_back();
    note_change(id);
  } else {
    disturbing_ -= items_[at].cls == ActionClass::disturb;
  }
  disturbing_ += cls == ActionClass::disturb;
  items_[at] = Action{id, cls, op, addr};
}

void ActionSet::remove(uint32_t id) {
  const uint32_t at = position_[id];
  disturbing_ -= items_[at].cls == ActionClass::disturb;
  items_[at] = items_.back();
  position_[items_[at].id] = at;
  items_.pop_back();
  position_[id] = kAbsent;
  note_change(id);
}

}  // namespace sd::engine
