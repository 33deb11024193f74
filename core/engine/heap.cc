#include "core/engine/heap.h"

#include <algorithm>
#include <cstring>

#include "core/engine/sanitizer.h"

namespace sd::engine {

namespace {

// Room between objects, so that a small overrun never reaches a neighbour.
constexpr size_t kGapBytes = kCacheLine;

size_t padded(size_t size) {
  return (size + kGapBytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

bool all_bytes_are(const char* p, size_t size, unsigned char value) {
  if (size == 0) return true;
  // Equal to the first byte, and each to the next.
  return static_cast<unsigned char>(*p) == value && std::memcmp(p, p + 1, size - 1) == 0;
}

}  // namespace

size_t Heap::place(size_t from_start, size_t size) const {
  const size_t heap = space_->offset_of(space_->heap());
  return heap + (downwards_ ? Space::kHeapSize - from_start - size : from_start);
}

void Heap::reset() {
  const size_t all = place(0, used_);
  unpoison(space_->at(all), used_);
  space_->forget_users(all, used_);
  used_ = 0;
  live_ = 0;
  objects_.clear();
}

void* Heap::allocate(size_t size, const char* tag, const Site& site) {
  const TsanIgnore ignore;
  const size_t need = padded(size);
  if (size > Space::kHeapSize || need > Space::kHeapSize - used_) return nullptr;
  char* p = space_->at(place(used_, need));
  used_ += need;
  unpoison(p, need);
  std::memset(p, kFresh, size);
  std::memset(p + size, kGap, need - size);
  poison(p + size, need - size);
  objects_.push_back(Object{space_->offset_of(p), size, tag, true, site, {}});
  ++live_;
  return p;
}

Heap::FreeResult Heap::free(void* p, const Site& site) {
  const TsanIgnore ignore;
  const size_t offset = space_->offset_of(p);
  auto* object = const_cast<Object*>(find(p));
  if (!object || object->offset != offset) return FreeResult::not_an_object;
  if (!object->live) return FreeResult::double_free;
  object->live = false;
  object->freed = site;
  --live_;
  std::memset(p, kFreed, object->size);
  poison(p, object->size);
  return FreeResult::ok;
}

const Heap::Object* Heap::find_offset(size_t offset) const {
  if (downwards_) {
    const auto at = std::lower_bound(
        objects_.begin(), objects_.end(), offset,
        [](const Object& object, size_t wanted) { return object.offset > wanted; });
    return at == objects_.end() ? nullptr : &*at;
  }
  auto after = std::upper_bound(objects_.begin(), objects_.end(), offset,
                                [](size_t at, const Object& object) { return at < object.offset; });
  return after == objects_.begin() ? nullptr : &*(after - 1);
}

const Heap::Object* Heap::corrupted() const {
  for (size_t i = 0; i < objects_.size(); ++i) {
    const Object& object = objects_[i];
    const char* p = space_->at(object.offset);
    const size_t need = padded(object.size);
    unpoison(p, need);
    const bool intact = (object.live || all_bytes_are(p, object.size, kFreed)) &&
                        all_bytes_are(p + object.size, need - object.size, kGap);
    if (!intact) return &object;
  }
  return nullptr;
}

}  // namespace sd::engine
