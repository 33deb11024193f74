// Marked accesses and barriers, by the kernel's names and with its documented ordering. Every
// inline function of this layer is `static`: code with and code without ThreadSanitizer
// instrumentation includes it, and one must never be linked to the other's copy.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/machine/sd.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SD_NO_TSAN __attribute__((noinline, no_sanitize("thread")))
#endif
#endif
#ifndef SD_NO_TSAN
#define SD_NO_TSAN
#endif

namespace sd::kernel {

// A scalar that fits a machine word, as the 64-bit value the C interface works on, and back.
template <typename T>
static inline uint64_t to_word(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(value);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else {
    return static_cast<
        std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>>(value);
  }
}

template <typename T>
static inline T from_word(uint64_t word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(word);
  } else {
    return static_cast<T>(word);
  }
}

template <typename T>
static inline std::remove_cv_t<T> load_marked(const volatile T* p, sd_order order, const char* fn) {
  return from_word<std::remove_cv_t<T>>(sd_load(p, sizeof(T), order, fn));
}

template <typename T>
static inline void store_marked(volatile T* p, std::type_identity_t<T> value, sd_order order,
                                const char* fn) {
  sd_store(p, to_word<T>(value), sizeof(T), order, fn);
}

// An access whose race is known, intended and documented where it stands (the kernel's
// data_race()): invisible to race detection, and not a scheduling point.
template <typename T>
SD_NO_TSAN static T data_race_read(const T* p) {
  return *const_cast<const volatile T*>(p);
}
// The same, where a branch on the value decides whether the stores that follow are made.
template <typename T>
static inline T data_race_read_ctrl(const T* p) {
  const T value = data_race_read(p);
  sd_control_dependency(p);
  return value;
}
template <typename T>
SD_NO_TSAN static void data_race_write(T* p, std::type_identity_t<T> value) {
  *const_cast<volatile T*>(p) = value;
}

}  // namespace sd::kernel

#define READ_ONCE(x) (::sd::kernel::load_marked(&(x), sd_relaxed, __func__))
#define WRITE_ONCE(x, value) (::sd::kernel::store_marked(&(x), (value), sd_relaxed, __func__))
#define smp_load_acquire(p) (::sd::kernel::load_marked((p), sd_acquire, __func__))
#define smp_store_release(p, value) (::sd::kernel::store_marked((p), (value), sd_release, __func__))

#define barrier() sd_fence(sd_barrier_compiler, __func__)
#define smp_mb() sd_fence(sd_mb, __func__)
#define smp_rmb() sd_fence(sd_rmb, __func__)
#define smp_wmb() sd_fence(sd_wmb, __func__)
#define smp_mb__before_atomic() smp_mb()
#define smp_mb__after_atomic() smp_mb()
// Orders a preceding marked load, on which a branch depends, before all later accesses.
#define smp_acquire__after_ctrl_dep() sd_fence(sd_acquire_after_ctrl_dep, __func__)
#define cpu_relax() sd_cpu_relax(__func__)

#define SD_COND_LOAD(ptr, condition, order)                                          \
  ({                                                                                 \
    auto sd_ptr_ = (ptr);                                                            \
    std::remove_cvref_t<decltype(*sd_ptr_)> VAL;                                     \
    for (;;) {                                                                       \
      VAL = ::sd::kernel::load_marked(sd_ptr_, (order), __func__);                   \
      if (condition) break;                                                          \
      sd_wait_change(sd_ptr_, ::sd::kernel::to_word(VAL), sizeof(VAL), 0, __func__); \
    }                                                                                \
    VAL;                                                                             \
  })
// Waits until `condition`, which may use VAL, the value of *ptr, holds; parks
// between polls. Relaxed.
#define smp_cond_load_relaxed(ptr, condition) SD_COND_LOAD(ptr, condition, sd_relaxed)
// The same with acquire loads, as arm64 has it.
#define smp_cond_load_acquire(ptr, condition) SD_COND_LOAD(ptr, condition, sd_acquire)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
