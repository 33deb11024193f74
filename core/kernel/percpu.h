// Per-CPU variables and system-wide globals of the code under test. They live in areas of the
// current machine, zeroed at each boot, never in C++ statics. Declare at namespace scope:
//   DEFINE_PER_CPU(struct llist_head, call_single_queue);
//   DEFINE_KERNEL_GLOBAL(bool, warned);
#pragma once

#include "core/kernel/preempt.h"
#include "core/machine/sd.h"

namespace sd::kernel {

template <typename T>
class PerCpu {
 public:
  explicit PerCpu(const char* name) : offset_(sd_percpu_reserve(sizeof(T), alignof(T), name)) {}
  T* ptr(unsigned cpu) const { return static_cast<T*>(sd_percpu_ptr(offset_, cpu)); }
  size_t offset() const { return offset_; }

 private:
  size_t offset_;
};

template <typename T>
class KernelGlobal {
 public:
  explicit KernelGlobal(const char* name)
      : offset_(sd_global_reserve(sizeof(T), alignof(T), name)) {}
  T* operator&() const { return static_cast<T*>(sd_global_ptr(offset_)); }
  T& get() const { return *static_cast<T*>(sd_global_ptr(offset_)); }

 private:
  size_t offset_;
};

}  // namespace sd::kernel

#define DEFINE_PER_CPU(type, name) const ::sd::kernel::PerCpu<type> name(#name)
#define DECLARE_PER_CPU(type, name) extern const ::sd::kernel::PerCpu<type> name
#define DEFINE_KERNEL_GLOBAL(type, name) const ::sd::kernel::KernelGlobal<type> name(#name)
#define DECLARE_KERNEL_GLOBAL(type, name) extern const ::sd::kernel::KernelGlobal<type> name
#define per_cpu(var, cpu) (*(var).ptr(cpu))
#define per_cpu_ptr(var, cpu) ((var).ptr(cpu))
#define this_cpu_ptr(var) ((var).ptr(sd_this_cpu()))
