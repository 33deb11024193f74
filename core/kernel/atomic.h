// atomic_t and the operations on it that the stack uses. As documented for the kernel:
// value-returning RMW operations are fully ordered, void ones and reads are relaxed, a failed
// cmpxchg orders nothing.
#pragma once

#include "core/kernel/compiler.h"

namespace sd::kernel {

struct atomic_t {
  int counter;
};

static inline int atomic_read(const atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  return load_marked(&v->counter, sd_relaxed, fn);
}
static inline void atomic_set(atomic_t* v, int value, const char* fn = __builtin_FUNCTION()) {
  store_marked(&v->counter, value, sd_relaxed, fn);
}
static inline void atomic_set_release(atomic_t* v, int value,
                                      const char* fn = __builtin_FUNCTION()) {
  store_marked(&v->counter, value, sd_release, fn);
}
static inline int atomic_rmw(atomic_t* v, sd_rmw_op op, int operand, sd_order order,
                             const char* fn) {
  return from_word<int>(sd_rmw(&v->counter, op, to_word(operand), sizeof(int), order, fn));
}
static inline void atomic_inc(atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  atomic_rmw(v, sd_add, 1, sd_relaxed, fn);
}
static inline void atomic_dec(atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  atomic_rmw(v, sd_sub, 1, sd_relaxed, fn);
}
static inline void atomic_add(int i, atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  atomic_rmw(v, sd_add, i, sd_relaxed, fn);
}
static inline int atomic_inc_return(atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  return atomic_rmw(v, sd_add, 1, sd_full, fn) + 1;
}
static inline int atomic_dec_return(atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  return atomic_rmw(v, sd_sub, 1, sd_full, fn) - 1;
}
static inline bool atomic_dec_and_test(atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  return atomic_dec_return(v, fn) == 0;
}
static inline int atomic_fetch_or(int i, atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  return atomic_rmw(v, sd_or, i, sd_full, fn);
}
static inline int atomic_fetch_andnot(int i, atomic_t* v, const char* fn = __builtin_FUNCTION()) {
  return atomic_rmw(v, sd_andnot, i, sd_full, fn);
}
// Returns the value found; the exchange happened if that is `old`.
static inline int atomic_cmpxchg(atomic_t* v, int old, int value,
                                 const char* fn = __builtin_FUNCTION()) {
  uint64_t expected = to_word(old);
  sd_cmpxchg(&v->counter, &expected, to_word(value), sizeof(int), sd_full, fn);
  return from_word<int>(expected);
}
static inline int atomic_cmpxchg_acquire(atomic_t* v, int old, int value,
                                         const char* fn = __builtin_FUNCTION()) {
  uint64_t expected = to_word(old);
  sd_cmpxchg(&v->counter, &expected, to_word(value), sizeof(int), sd_acquire, fn);
  return from_word<int>(expected);
}

// xchg() and try_cmpxchg() on any word; fully ordered.
template <typename T>
static inline T xchg(T* p, std::type_identity_t<T> value, const char* fn = __builtin_FUNCTION()) {
  return from_word<T>(sd_rmw(p, sd_xchg, to_word<T>(value), sizeof(T), sd_full, fn));
}
template <typename T>
static inline bool try_cmpxchg(T* p, T* expected, std::type_identity_t<T> value,
                               sd_order order = sd_full, const char* fn = __builtin_FUNCTION()) {
  uint64_t found = to_word<T>(*expected);
  const bool stored = sd_cmpxchg(p, &found, to_word<T>(value), sizeof(T), order, fn);
  *expected = from_word<T>(found);
  return stored;
}

}  // namespace sd::kernel
