// Ghost state by address: a flat hash table that only grows, is never iterated (so hash order
// cannot matter) and is cleared in O(entries used).
#pragma once

#include <cstdint>
#include <vector>

namespace sd::oracle {

template <typename Value>
class PointerTable {
 public:
  PointerTable() { resize(kFirstSize); }

  Value* find(const volatile void* key) {
    for (uint32_t at = home(key);; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return &slots_[at].value;
      if (!slots_[at].key) return nullptr;
    }
  }

  // The entry of key, a new Value{} if there was none. Valid until the next get().
  Value& get(const volatile void* key) {
    if (used_.size() * 2 > mask_) grow();
    uint32_t at = home(key);
    for (; slots_[at].key != key; at = (at + 1) & mask_) {
      if (slots_[at].key) continue;
      slots_[at].key = key;
      slots_[at].value = Value{};
      used_.push_back(at);
      break;
    }
    return slots_[at].value;
  }

  void clear() {
    for (const uint32_t at : used_) slots_[at].key = nullptr;
    used_.clear();
  }

 private:
  static constexpr uint32_t kFirstSize = 1024;

  struct Slot {
    const volatile void* key = nullptr;
    Value value{};
  };

  uint32_t home(const volatile void* key) const {
    const uint64_t hash = reinterpret_cast<uintptr_t>(key) * 0x9e3779b97f4a7c15u;
    return static_cast<uint32_t>(hash >> 40) & mask_;
  }

  void resize(uint32_t size) {
    slots_.assign(size, Slot{});
    used_.reserve(size / 2 + 1);
    mask_ = size - 1;
  }

  void grow() {
    const std::vector<Slot> old = std::move(slots_);
    const std::vector<uint32_t> old_used = std::move(used_);
    slots_ = {};
    used_ = {};
    resize((mask_ + 1) * 2);
    for (const uint32_t at : old_used) get(old[at].key) = old[at].value;
  }

  std::vector<Slot> slots_;
  std::vector<uint32_t> used_;
  uint32_t mask_ = 0;
};

}  // namespace sd::oracle
