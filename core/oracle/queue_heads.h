// Tells whether an address is some CPU's call_single_queue, in a few instructions: a cheap filter
// for observers of read-modify-write operations. An operation on a queue head is an add (value
// after = the new node) or a del_all (value after = null); nothing else is done to it.
#pragma once

#include <bit>
#include <cstdint>

#include "core/engine/check.h"
#include "core/oracle/view.h"

namespace sd::oracle {

class QueueHeads {
 public:
  void reset(const View& view) {
    cpus_ = view.nr_cpus();
    base_ = address(view, 0);
    stride_ = cpus_ > 1 ? address(view, 1) - base_ : 1;
    // Per-CPU areas of the machine stand at equal distances.
    SD_CHECK(stride_ > 0 && address(view, cpus_ - 1) == base_ + stride_ * (cpus_ - 1));
    shift_ = std::has_single_bit(stride_) ? std::countr_zero(stride_) : -1;
    span_ = stride_ * (cpus_ - 1);
  }

  // The CPU whose queue head p is, or -1.
  int cpu_of(const volatile void* p) const {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(p) - base_;
    if (offset > span_) return -1;
    const uintptr_t cpu = shift_ >= 0 ? offset >> shift_ : offset / stride_;
    return cpu * stride_ == offset ? static_cast<int>(cpu) : -1;
  }

 private:
  static uintptr_t address(const View& view, unsigned cpu) {
    return reinterpret_cast<uintptr_t>(view.queue_head(cpu));
  }

  uintptr_t base_ = 0;
  uintptr_t stride_ = 1;
  uintptr_t span_ = 0;
  int shift_ = -1;
  unsigned cpus_ = 0;
};

}  // namespace sd::oracle
