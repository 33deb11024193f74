#include "core/engine/space.h"

#include <sys/mman.h>

#include <cstring>

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
  munmap(line_users_, lines(kSize) * sizeof(uint16_t));
}

void Space::reset(size_t globals_used, size_t area_used, unsigned areas, size_t heap_used) {
  std::memset(globals(), 0, globals_used);
  std::memset(line_users_, 0, lines(globals_used) * sizeof(uint16_t));
  for (unsigned i = 0; i < areas; ++i) {
    std::memset(area(i), 0, area_used);
    std::memset(&line_user(offset_of(area(i))), 0, lines(area_used) * sizeof(uint16_t));
  }
  std::memset(&line_user(kHeapOffset), 0, lines(heap_used) * sizeof(uint16_t));
}

}  // namespace sd::engine
