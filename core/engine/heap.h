// The simulator's heap. Memory comes poisoned, is never handed out twice within an execution
// (everything freed stays in quarantine, poisoned), and every access that the memory interface
// makes is checked, so a use after free is seen whatever the flavour; plain accesses are seen by
// ASan, and plain writes into freed memory or past an object's end by the check at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/space.h"

namespace sd::engine {

// Where something happened, for "allocated here, freed there".
struct Site {
  const char* function = "";
  uint64_t step = 0;
  uint16_t cpu = 0;
  uint16_t task = 0;
};

class Heap {
 public:
  struct Object {
    size_t offset = 0;  // into the space
    size_t size = 0;
    const char* tag = "";
    bool live = true;
    Site allocated;
    Site freed;
  };

  enum class FreeResult { ok, double_free, not_an_object };

  explicit Heap(Space* space) : space_(space) {}

  void reset();
  // From which end of its space memory is handed out, from now on: later objects lie above those
  // before them (as at the start), or below. Only right after reset().
  void grow_downwards(bool downwards) { downwards_ = downwards; }

  // 64-byte aligned, filled with kFresh; nullptr if the space of this execution is used up.
  void* allocate(size_t size, const char* tag, const Site& site);
  // On double_free, find(p) tells who freed it first.
  FreeResult free(void* p, const Site& site);

  // The object that p points into (or to the gap behind), live or not; nullptr if p
  // is not in the heap.
  const Object* find(const volatile void* p) const {
    const size_t offset = space_->offset_of(p);
    return space_->in_heap(offset) ? find_offset(offset) : nullptr;
  }

  // The object if [p, p + size) is memory of the heap that must not be touched:
  // freed, or past an end.
  const Object* bad_access(const volatile void* p, size_t size) const {
    const size_t offset = space_->offset_of(p);
    if (__builtin_expect(!space_->in_heap(offset), 1)) return nullptr;
    const Object* object = find_offset(offset);
    if (object && object->live && offset + size <= object->offset + object->size) return nullptr;
    return object ? object : &nowhere_;
  }

  // The first object whose poison was overwritten (after its free, or past its end), or nullptr.
  const Object* corrupted() const;

  uint64_t live_objects() const { return live_; }
  size_t used() const { return used_; }
  // Index of an object in order of allocation.
  size_t number_of(const Object* object) const {
    return static_cast<size_t>(object - objects_.data());
  }
  const std::vector<Object>& objects() const { return objects_; }

 private:
  static constexpr unsigned char kFresh = 0x5a;
  static constexpr unsigned char kFreed = 0x6b;
  static constexpr unsigned char kGap = 0xcc;

  const Object* find_offset(size_t offset) const;

  Space* space_;
  // Where the piece of `size` bytes lies that begins so many bytes from the end that grows.
  size_t place(size_t from_start, size_t size) const;

  bool downwards_ = false;
  size_t used_ = 0;
  uint64_t live_ = 0;
  std::vector<Object> objects_;  // ascending offsets, or descending ones
  Object nowhere_{0, 0, "never allocated", false, {}, {}};
};

}  // namespace sd::engine
