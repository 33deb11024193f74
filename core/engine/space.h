// The memory that code under test shares: globals, per-CPU areas and the heap, in one reservation
// of address space, so that "what is at this address" and "which line is this" are arithmetic and
// depend on offsets only, never on where the reservation came to lie.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sd::engine {

inline constexpr size_t kCacheLine = 64;

class Space {
 public:
  static constexpr size_t kGlobalsSize = 1u << 20;
  static constexpr size_t kAreaSize = 1u << 14;  // one per-CPU area
  static constexpr size_t kMaxAreas = 512;
  static constexpr size_t kHeapSize = 1u << 29;  // per execution; reserved, touched as used

  Space();
  ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  char* globals() { return base_; }
  char* area(unsigned index) { return base_ + kGlobalsSize + index * kAreaSize; }
  char* heap() { return base_ + kHeapOffset; }
  char* at(size_t offset) { return base_ + offset; }

  bool in_globals(size_t offset) const { return offset < kGlobalsSize; }
  bool in_areas(size_t offset) const { return offset >= kGlobalsSize && offset < kHeapOffset; }
  bool in_heap(size_t offset) const { return offset >= kHeapOffset && offset < kSize; }

  // Offset of p from the start; >= size() if p is elsewhere.
  size_t offset_of(const volatile void* p) const {
    return static_cast<size_t>(reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(base_));
  }
  static constexpr size_t size() { return kSize; }

  // Who used the cache line of this offset last: a small number, 0 for nobody since forget_users().
  uint16_t& line_user(size_t offset) { return line_users_[offset / kCacheLine]; }
  void forget_users(size_t offset, size_t size);

  // Zeroes globals and the first `areas` per-CPU areas up to the sizes in use, and forgets all line
  // users there.
  void reset(size_t globals_used, size_t area_used, unsigned areas);

  // Goes on in another reservation, with whatever is in it; offsets mean the same there. The next
  // call comes back.
  void change_place();

 private:
  static constexpr size_t kHeapOffset = kGlobalsSize + kAreaSize * kMaxAreas;
  static constexpr size_t kSize = kHeapOffset + kHeapSize;

  char* base_ = nullptr;
  char* other_base_ = nullptr;  // nullptr: not needed so far
  uint16_t* line_users_ = nullptr;
};

}  // namespace sd::engine
