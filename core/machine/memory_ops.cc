// The marked accesses of the C interface, and allocation: a scheduling point, the access, a point.
#include "core/engine/sanitizer.h"
#include "core/machine/cost.h"
#include "core/machine/machine.h"
#include "core/machine/state.h"

using sd::engine::Failure;
using sd::engine::FailureKind;
using sd::engine::Fence;
using sd::engine::Heap;
using sd::engine::Order;
using sd::engine::Purpose;
using sd::engine::RmwOp;

namespace sd::machine {

void Machine::charge_access(const volatile void* p, bool atomic) {
  uint64_t ns = cost::kStackLineNs;
  const size_t offset = space_.offset_of(p);
  if (offset < engine::Space::size()) {
    uint16_t& user = space_.line_user(offset);
    const auto self = static_cast<uint16_t>(cpu_->id + 1);
    ns = cost::kLineNs[user == 0 ? 0 : topology_.distance(user - 1u, cpu_->id)];
    user = self;
  }
  cpu_->time_ns += ns + (atomic ? cost::kAtomicNs : 0);
}

namespace {

std::string site_text(const engine::Site& site) {
  return std::string(site.function) + " on CPU " + std::to_string(site.cpu) + ", task " +
         task_name(site.task) + ", step " + std::to_string(site.step);
}

}  // namespace

void Machine::check_access(const volatile void* p, unsigned size, const char* what,
                           const char* fn) {
  const Heap::Object* object = heap_.bad_access(p, size);
  if (__builtin_expect(!object, 1)) return;
  Failure failure = failure_here(FailureKind::use_after_free,
                                 object->live ? "out-of-bounds" : "use-after-free", fn);
  failure.message = std::string(what) + " of " + std::to_string(size) + " bytes at " + describe(p) +
                    (object->live ? ", past the end of a live object" : ", which is freed memory");
  failure.detail = "allocated by " + site_text(object->allocated) + "\n";
  if (!object->live) failure.detail += "freed by " + site_text(object->freed) + "\n";
  failure.detail += std::string("accessed by ") + site_text(site(fn)) + "\n";
  fail(std::move(failure));
}

uint64_t Machine::load(const volatile void* p, unsigned size, Order order, const char* fn) {
  point(OpKind::load, p);
  check_access(p, size, "load", fn);
  charge_access(p, false);
  const uint64_t value = memory_.load(cpu_->id, p, size, order);
  emit(engine::event::load, p, value, size, fn);
  return value;
}

void Machine::store(volatile void* p, uint64_t value, unsigned size, Order order, const char* fn) {
  point(OpKind::store, p);
  check_access(p, size, "store", fn);
  charge_access(p, false);
  memory_.store(cpu_->id, p, value, size, order);
  emit(engine::event::store, p, value, size, fn);
  wake_parked(p);
}

uint64_t Machine::rmw(volatile void* p, RmwOp op, uint64_t operand, unsigned size, Order order,
                      const char* fn) {
  point(OpKind::rmw, p);
  check_access(p, size, "read-modify-write", fn);
  charge_access(p, true);
  const uint64_t old = memory_.rmw(cpu_->id, p, op, operand, size, order);
  emit(engine::event::rmw, p, old, engine::Memory::peek(p, size), fn);
  wake_parked(p);
  return old;
}

void Machine::fence(Fence kind, const char* fn) {
  if (kind != Fence::compiler) charge(cost::kFenceNs);
  memory_.fence(cpu_->id, kind);
  emit(engine::event::fence, nullptr, static_cast<uint64_t>(kind), 0, fn);
}

}  // namespace sd::machine

using namespace sd::machine;  // this file is one of the machine's doors

extern "C" {

uint64_t sd_load(const volatile void* p, unsigned size, sd_order order, const char* fn) {
  Machine& m = Machine::get();
  const uint64_t value = m.load(p, size, static_cast<Order>(order), fn);
  m.point(OpKind::none, nullptr);
  return value;
}

void sd_store(volatile void* p, uint64_t value, unsigned size, sd_order order, const char* fn) {
  Machine& m = Machine::get();
  m.store(p, value, size, static_cast<Order>(order), fn);
  m.point(OpKind::none, nullptr);
}

uint64_t sd_rmw(volatile void* p, sd_rmw_op op, uint64_t operand, unsigned size, sd_order order,
                const char* fn) {
  Machine& m = Machine::get();
  const uint64_t old =
      m.rmw(p, static_cast<RmwOp>(op), operand, size, static_cast<Order>(order), fn);
  m.point(OpKind::none, nullptr);
  return old;
}

uint32_t sd_own_flags(const char* fn) {
  Machine& m = Machine::get();
  const volatile uint32_t* flags = m.current()->flags;
  return static_cast<uint32_t>(m.load(flags, sizeof(*flags), Order::relaxed, fn));
}

void sd_own_flags_set(uint32_t bits, const char* fn) {
  Machine& m = Machine::get();
  m.rmw(m.current()->flags, RmwOp::bor, bits, sizeof(bits), Order::relaxed, fn);
}

void sd_own_flags_clear(uint32_t bits, const char* fn) {
  Machine& m = Machine::get();
  m.rmw(m.current()->flags, RmwOp::andnot, bits, sizeof(bits), Order::relaxed, fn);
}

void sd_own_flags_clear_mb(uint32_t bits, const char* fn) {
  sd_own_flags_clear(bits, fn);
  Machine::get().fence(Fence::mb, fn);
}

bool sd_own_cpu_online(const char* fn) {
  Machine& m = Machine::get();
  const unsigned cpu = m.this_cpu().id;
  const volatile uint64_t* word = m.online_ + cpu / 64;
  return (m.load(word, sizeof(*word), Order::relaxed, fn) >> (cpu % 64) & 1) != 0;
}

bool sd_cmpxchg(volatile void* p, uint64_t* expected, uint64_t desired, unsigned size,
                sd_order order, const char* fn) {
  Machine& m = Machine::get();
  m.point(OpKind::rmw, p);
  m.check_access(p, size, "compare-and-exchange", fn);
  m.charge_access(p, true);
  const uint64_t wanted = *expected;
  const bool stored =
      m.memory_.cmpxchg(m.cpu_->id, p, expected, desired, size, static_cast<Order>(order));
  if (stored) {
    m.emit(sd::engine::event::rmw, p, wanted, desired, fn);
    m.wake_parked(p);
  } else {
    m.emit(sd::engine::event::cmpxchg_fail, p, *expected, wanted, fn);
  }
  m.point(OpKind::none, nullptr);
  return stored;
}

void sd_fence(sd_fence_kind kind, const char* fn) {
  Machine& m = Machine::get();
  m.fence(static_cast<Fence>(kind), fn);
  m.point(OpKind::fence, nullptr);
}

void sd_control_dependency(const volatile void* p) {
  Machine& m = Machine::get();
  m.memory_.control_dependency(m.cpu_->id, p);
}

void sd_wait_change(const volatile void* p, uint64_t old, unsigned size, uint64_t deadline_ns,
                    const char* fn) {
  Machine& m = Machine::get();
  m.point(OpKind::relax, p);
  if (m.stopping_ || !m.running_) return;
  m.charge(cost::kInstructionNs);
  if (deadline_ns && m.cpu_->time_ns >= deadline_ns) return;
  if (sd::engine::Memory::peek(p, size) != old) return;
  m.park(p, old, size, deadline_ns, fn);
}

void sd_cpu_relax(const char*) {
  Machine& m = Machine::get();
  m.charge(cost::kInstructionNs);
  m.point(OpKind::relax, nullptr);
}

void* sd_alloc(size_t size, const char* tag, bool may_fail, const char* fn) {
  Machine& m = Machine::get();
  m.point(OpKind::alloc, nullptr);
  m.charge(50 * cost::kInstructionNs);
  const uint32_t one_in = m.config_.alloc_fail;
  void* p = nullptr;
  if (!(m.running_ && may_fail && one_in > 1 &&
        m.choose(one_in, Purpose::alloc_fail) == one_in - 1)) {
    p = m.heap_.allocate(size, tag, m.site(fn));
    if (!p && !may_fail) {
      Failure failure = m.failure_here(FailureKind::harness, "heap-exhausted", fn);
      failure.message = "the memory that one execution may use is exhausted";
      m.fail(std::move(failure));
    }
  }
  m.emit(sd::engine::event::alloc, p, size, p != nullptr, fn);
  m.point(OpKind::none, nullptr);
  return p;
}

void sd_free(void* p, const char* fn) {
  if (!p) return;
  Machine& m = Machine::get();
  m.point(OpKind::alloc, p);
  m.charge(30 * cost::kInstructionNs);
  const Heap::Object* object = m.heap_.find(p);
  const Heap::FreeResult result = m.heap_.free(p, m.site(fn));
  if (result != Heap::FreeResult::ok) {
    const bool twice = result == Heap::FreeResult::double_free;
    Failure failure =
        m.failure_here(FailureKind::use_after_free, twice ? "double-free" : "wild-free", fn);
    failure.message = m.describe(p) + (twice ? " is freed a second time"
                                             : " is freed, but is no object of the heap");
    if (twice) {
      failure.detail = "allocated by " + site_text(object->allocated) + "\nfreed first by " +
                       site_text(object->freed) + "\n";
    }
    m.fail(std::move(failure));
  }
  m.emit(sd::engine::event::free, p, object->size, 0, fn);
  m.unpark_range(p, object->size);  // whoever polls it now polls freed memory
  m.point(OpKind::none, nullptr);
}

bool sd_alloc_is_live(const volatile void* p, size_t size) {
  return Machine::get().heap_.bad_access(p, size) == nullptr;
}

size_t sd_percpu_reserve(size_t size, size_t align, const char* name) {
  return percpu_layout().reserve(size, align, name, sd::engine::Space::kAreaSize);
}
size_t sd_global_reserve(size_t size, size_t align, const char* name) {
  return global_layout().reserve(size, align, name, sd::engine::Space::kGlobalsSize / 2);
}
void* sd_percpu_ptr(size_t offset, unsigned cpu) {
  return Machine::get().space_.area(cpu) + offset;
}
void* sd_global_ptr(size_t offset) {
  return Machine::get().space_.globals() + offset;
}

void sd_sync_release(const volatile void* p) {
  sd::engine::tsan_release(const_cast<void*>(p));
}
void sd_sync_acquire(const volatile void* p) {
  sd::engine::tsan_acquire(const_cast<void*>(p));
}

}  // extern "C"
