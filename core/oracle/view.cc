#include "core/oracle/view.h"

#include "core/machine/machine.h"
#include "core/smp/csd.h"

namespace sd::oracle {

namespace {

bool bit(const volatile uint64_t* mask, unsigned cpu) {
  return (mask[cpu / 64] >> (cpu % 64)) & 1;
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

bool View::call_ipi_pending(unsigned cpu) const {
  return sd_ipi_pending(cpu, sd_vec_call_function_single) ||
         sd_ipi_pending(cpu, sd_vec_call_function);
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
