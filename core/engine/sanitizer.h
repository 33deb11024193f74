// What the engine tells the sanitizers. The engine itself is compiled without ThreadSanitizer
// instrumentation; SD_TSAN says that the program as a whole runs under it.
#pragma once

#include <cstddef>

#if defined(SD_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SD_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace sd::engine {

#if defined(SD_TSAN)
inline constexpr bool kTsan = true;
inline void tsan_acquire(void* token) {
  __tsan_acquire(token);
}
inline void tsan_release(void* token) {
  __tsan_release(token);
}
#else
inline constexpr bool kTsan = false;
inline void tsan_acquire(void*) {}
inline void tsan_release(void*) {}
#endif

#if defined(SD_ASAN)
inline void poison(const volatile void* p, size_t size) {
  __asan_poison_memory_region(p, size);
}
inline void unpoison(const volatile void* p, size_t size) {
  __asan_unpoison_memory_region(p, size);
}
#else
inline void poison(const volatile void*, size_t) {}
inline void unpoison(const volatile void*, size_t) {}
#endif

// While one lives, what this context does through intercepted library calls (memset, malloc, ...)
// is not an access of the code under test. For the engine's and the machine's own slow paths. Must
// not be held across a switch of fibers.
class TsanIgnore {
 public:
  TsanIgnore() {
#if defined(SD_TSAN)
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  }
  ~TsanIgnore() {
#if defined(SD_TSAN)
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  TsanIgnore(const TsanIgnore&) = delete;
  TsanIgnore& operator=(const TsanIgnore&) = delete;
};

}  // namespace sd::engine
