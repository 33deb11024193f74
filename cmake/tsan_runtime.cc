// What the simulator does with memory is no business of ThreadSanitizer, but its runtime intercepts
// operator new, operator delete, memcpy, memmove and memset also where code is not instrumented.
// All fibers share the simulator's state without an order that ThreadSanitizer knows, so a growing
// std::vector of the engine would be reported as a race. The linker (--wrap) sends these calls
// here: allocation happens unseen, and block copies are seen only if the code under test makes
// them.
//
// The code under test is recognised by its section: Flavour.cmake renames .text of its libraries.
// Its heap is the engine's, not operator new, so nothing that matters is hidden here.

#include <cstddef>
#include <cstdint>
#include <new>

extern "C" {

void __tsan_ignore_thread_begin();
void __tsan_ignore_thread_end();

extern const char __start_sd_stack_text[] __attribute__((weak));
extern const char __stop_sd_stack_text[] __attribute__((weak));

// Calls from inside these libraries are the simulator's (containers, strings, formatting).
const char* __tsan_default_suppressions() {
  return "called_from_lib:libstdc++.so\n"
         "called_from_lib:libfmt.so\n";
}

// atexit_sleep_ms: else each process sleeps for a second at its end, in case a thread still has a
// race to show. handle_segv and its like: a signal that comes while the runtime holds one of its
// locks would deadlock in the handler, as its report needs the same lock; whoever waits for the
// process learns what ended it, and a plain or asan build says where.
const char* __tsan_default_options() {
  return "atexit_sleep_ms=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:"
         "handle_abort=0";
}

#define SD_IS_STACK(address)                                                                   \
  (reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(__start_sd_stack_text) < \
   static_cast<uintptr_t>(__stop_sd_stack_text - __start_sd_stack_text))

void* __real_memcpy(void* to, const void* from, size_t size);
void* __real_memmove(void* to, const void* from, size_t size);
void* __real_memset(void* to, int byte, size_t size);

static void copy_up(void* to, const void* from, size_t size) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static void copy_down(void* to, const void* from, size_t size) {
  char* to_last = static_cast<char*>(to) + size - 1;
  const char* from_last = static_cast<const char*>(from) + size - 1;
  asm volatile("std\n\trep movsb\n\tcld"
               : "+D"(to_last), "+S"(from_last), "+c"(size)
               :
               : "memory", "cc");
}

void* __wrap_memcpy(void* to, const void* from, size_t size) {
  if (SD_IS_STACK(__builtin_return_address(0))) return __real_memcpy(to, from, size);
  copy_up(to, from, size);
  return to;
}

void* __wrap_memmove(void* to, const void* from, size_t size) {
  if (SD_IS_STACK(__builtin_return_address(0))) return __real_memmove(to, from, size);
  const uintptr_t distance = reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from);
  if (distance >= size) {
    copy_up(to, from, size);
  } else if (size != 0) {
    copy_down(to, from, size);
  }
  return to;
}

void* __wrap_memset(void* to, int byte, size_t size) {
  if (SD_IS_STACK(__builtin_return_address(0))) return __real_memset(to, byte, size);
  void* at = to;
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(byte) : "memory");
  return to;
}

// Name, declaration and call of each form of operator new and delete.
#define SD_NEW(symbol, params, args)     \
  void* __real_##symbol params;          \
  void* __wrap_##symbol params {         \
    __tsan_ignore_thread_begin();        \
    void* memory = __real_##symbol args; \
    __tsan_ignore_thread_end();          \
    return memory;                       \
  }
#define SD_DELETE(symbol, params, args) \
  void __real_##symbol params;          \
  void __wrap_##symbol params {         \
    __tsan_ignore_thread_begin();       \
    __real_##symbol args;               \
    __tsan_ignore_thread_end();         \
  }

SD_NEW(_Znwm, (size_t size), (size))
SD_NEW(_Znam, (size_t size), (size))
SD_NEW(_ZnwmSt11align_val_t, (size_t size, std::align_val_t align), (size, align))
SD_NEW(_ZnamSt11align_val_t, (size_t size, std::align_val_t align), (size, align))
SD_NEW(_ZnwmRKSt9nothrow_t, (size_t size, const std::nothrow_t& tag), (size, tag))
SD_NEW(_ZnamRKSt9nothrow_t, (size_t size, const std::nothrow_t& tag), (size, tag))
SD_DELETE(_ZdlPv, (void* memory), (memory))
SD_DELETE(_ZdaPv, (void* memory), (memory))
SD_DELETE(_ZdlPvm, (void* memory, size_t size), (memory, size))
SD_DELETE(_ZdaPvm, (void* memory, size_t size), (memory, size))
SD_DELETE(_ZdlPvSt11align_val_t, (void* memory, std::align_val_t align), (memory, align))
SD_DELETE(_ZdaPvSt11align_val_t, (void* memory, std::align_val_t align), (memory, align))
SD_DELETE(_ZdlPvmSt11align_val_t, (void* memory, size_t size, std::align_val_t align),
          (memory, size, align))
SD_DELETE(_ZdaPvmSt11align_val_t, (void* memory, size_t size, std::align_val_t align),
          (memory, size, align))

}  // extern "C"
