// kmalloc and friends on the machine's heap. GFP_KERNEL and GFP_ATOMIC allocations may fail when
// the scenario injects failures, __GFP_NOFAIL ones do not; those with GFP_KERNEL might sleep.
#pragma once

#include <cstddef>

#include "core/machine/sd.h"

namespace sd::kernel {

enum gfp_t : unsigned { GFP_KERNEL = 1, GFP_ATOMIC = 2, GFP_NOFAIL = 4 };

void* kmalloc(size_t size, gfp_t flags, const char* tag, const char* fn = __builtin_FUNCTION());
void* kzalloc(size_t size, gfp_t flags, const char* tag, const char* fn = __builtin_FUNCTION());
void kfree(const void* object, const char* fn = __builtin_FUNCTION());

}  // namespace sd::kernel
