#include "core/engine/space.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "core/engine/check.h"

namespace sd::engine {

namespace {

void* reserve(size_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  SD_CHECK(p != MAP_FAILED);
  return p;
}

constexpr size_t lines(size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine;
}

}  // namespace

Space::Space()
    : base_(static_cast<char*>(reserve(kSize))),
      line_users_(static_cast<uint16_t*>(reserve(lines(kSize) * sizeof(uint16_t)))) {}

Space::~Space() {
  munmap(base_, kSize);
  if (other_base_) munmap(other_base_, kSize);
  munmap(line_users_, lines(kSize) * sizeof(uint16_t));
}

void Space::forget_users(size_t offset, size_t size) {
  std::memset(&line_user(offset), 0, lines(size) * sizeof(uint16_t));
}

void Space::reset(size_t globals_used, size_t area_used, unsigned areas) {
  std::memset(globals(), 0, globals_used);
  forget_users(0, globals_used);
  for (unsigned i = 0; i < areas; ++i) {
    std::memset(area(i), 0, area_used);
    forget_users(offset_of(area(i)), area_used);
  }
}

void Space::change_place() {
  if (!other_base_) other_base_ = static_cast<char*>(reserve(kSize));
  std::swap(base_, other_base_);
}

}  // namespace sd::engine
