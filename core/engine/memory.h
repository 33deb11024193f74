// The memory model behind the marked accesses. A vCPU is a small number here. `sc`: every access
// takes effect at once, in ordinary memory. Weaker models take the same calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/action.h"

namespace sd::engine {

// Order of an access, and kinds of fences; the values are those of the C interface
// (core/machine/sd.h).
enum class Order : uint8_t { relaxed, acquire, release, full };
enum class RmwOp : uint8_t { xchg, add, sub, band, bor, bxor, andnot };
enum class Fence : uint8_t { mb, rmb, wmb, acquire_after_ctrl_dep, compiler };

class Memory {
 public:
  // A new execution on `cpus` vCPUs.
  void reset(unsigned cpus);

  uint64_t load(unsigned cpu, const volatile void* p, unsigned size, Order order);
  void store(unsigned cpu, volatile void* p, uint64_t value, unsigned size, Order order);
  // Returns the value before.
  uint64_t rmw(unsigned cpu, volatile void* p, RmwOp op, uint64_t operand, unsigned size,
               Order order);
  // Stores if the value is *expected; *expected becomes the value found.
  bool cmpxchg(unsigned cpu, volatile void* p, uint64_t* expected, uint64_t desired, unsigned size,
               Order order);
  void fence(unsigned cpu, Fence kind);
  // The stores that follow depend on what an unmarked load has just read from p.
  void control_dependency(unsigned cpu, const volatile void* p);

  // What is there now, without being an access: for parking and for reports.
  static uint64_t peek(const volatile void* p, unsigned size);

 private:
  // ThreadSanitizer sees what the orders promise, no more: a release store publishes a message
  // object with the address, a load that reads from it acquires that object at once (acquire) or at
  // the next fence that orders it. Only in the tsan flavour; elsewhere these are empty.
  struct Edges {
    void reset(unsigned cpus);
    void loaded(unsigned cpu, const volatile void* p, bool acquire);
    void stored(unsigned cpu, const volatile void* p, bool release);
    void updating(unsigned cpu, const volatile void* p, Order order);  // before a read-modify-write
    void updated(unsigned cpu, const volatile void* p, Order order);   // and after it
    void fence(unsigned cpu, Fence kind);

   private:
    struct Slot {
      const volatile void* address = nullptr;
      void* message = nullptr;
      uint32_t generation = 0;
    };
    // Messages read since the last fence; beyond, the oldest is acquired at once.
    static constexpr unsigned kPending = 16;
    struct Cpu {
      void* released = nullptr;  // published by the last releasing fence
      void* pending[kPending];
      unsigned count = 0;
    };

    Slot& slot(const volatile void* p);
    void grow();
    void* fresh_message();
    void acquire_pending(Cpu& cpu);

    std::vector<Slot> slots_;
    std::size_t used_ = 0;  // of this generation
    std::vector<Cpu> cpus_;
    uint32_t generation_ = 0;
    uint32_t next_message_ = 0;
  };

  Edges edges_;
};

}  // namespace sd::engine
