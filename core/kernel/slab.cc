#include "core/kernel/slab.h"

#include <cstring>

namespace sd::kernel {

void* kmalloc(size_t size, gfp_t flags, const char* tag, const char* fn) {
  if (flags & GFP_KERNEL) sd_might_sleep(fn);
  return sd_alloc(size, tag, !(flags & GFP_NOFAIL), fn);
}

void* kzalloc(size_t size, gfp_t flags, const char* tag, const char* fn) {
  void* p = kmalloc(size, flags, tag, fn);
  if (p) std::memset(p, 0, size);
  return p;
}

void kfree(const void* object, const char* fn) {
  sd_free(const_cast<void*>(object), fn);
}

}  // namespace sd::kernel
