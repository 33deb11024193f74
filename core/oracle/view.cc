#include "core/oracle/view.h"

#include "core/kernel/param.h"
#include "core/kernel/softirq.h"
#include "core/machine/machine.h"
#include "core/smp/csd.h"
#include "core/smp/smp.h"

namespace sd::oracle {

namespace {

bool bit(const volatile uint64_t* mask, unsigned cpu) {
  return (mask[cpu / 64] >> (cpu % 64)) & 1;
}

const smp::call_function_data& cfd_of(unsigned cpu) {
  return *static_cast<const smp::call_function_data*>(sd_percpu_ptr(smp::cfd_data.offset(), cpu));
}

}  // namespace

unsigned View::nr_cpus() const {
  return sd_nr_cpus();
}
bool View::cpu_online(unsigned cpu) const {
  return bit(sd_cpu_online_bits(), cpu);
}
bool View::cpu_active(unsigned cpu) const {
  return bit(sd_cpu_active_bits(), cpu);
}
unsigned View::preempt_count() const {
  return sd_preempt_count();
}
bool View::irqs_disabled() const {
  return sd_irqs_disabled();
}
bool View::in_task() const {
  return sd_in_task();
}
bool View::is_idle(unsigned task) const {
  return machine::task_is_idle(task);
}

bool View::call_ipi_pending(unsigned cpu) const {
  return sd_ipi_pending(cpu, sd_vec_call_function_single) ||
         sd_ipi_pending(cpu, sd_vec_call_function);
}

bool View::irq_pending(unsigned cpu) const {
  for (unsigned vector = 0; vector < sd_nr_vectors; ++vector) {
    if (sd_ipi_pending(cpu, static_cast<sd_vector>(vector))) return true;
  }
  return false;
}
uint32_t View::softirqs_pending(unsigned cpu) const {
  return *kernel::softirq_pending.ptr(cpu);
}

const volatile void* View::queue_head(unsigned cpu) const {
  return sd_percpu_ptr(smp::call_single_queue.offset(), cpu);
}

bool View::readable(const volatile void* p, size_t size) const {
  return sd_alloc_is_live(p, size);
}
const volatile void* View::online_mask() const {
  return sd_cpu_online_bits();
}
const volatile void* View::active_mask() const {
  return sd_cpu_active_bits();
}
bool View::patch(series::Patch patch) const {
  return machine::config().patches[static_cast<size_t>(patch)];
}
const volatile void* View::cpu_mask(unsigned cpu) const {
  return cfd_of(cpu).cpumask_work;
}
const volatile void* View::cpu_csds(unsigned cpu) const {
  return cfd_of(cpu).csd;
}
bool View::csd_lock_stuck() const {
  return smp::csd_lock_is_stuck();
}
uint64_t View::csd_lock_timeout_ns() const {
  constexpr uint64_t kNsPerMs = 1'000'000;
  const auto param = static_cast<unsigned>(kernel::Param::csd_lock_timeout);
  return static_cast<uint64_t>(sd_param(param)) * kNsPerMs;
}
std::string View::task_name(unsigned task) const {
  return machine::task_name(task);
}
std::string View::describe(const volatile void* p) const {
  return machine::describe_address(p);
}

const View& machine_view() {
  static const View view;
  return view;
}

}  // namespace sd::oracle
