#include "core/smp/smpcfd.h"

#include <cerrno>

#include "core/kernel/slab.h"
#include "core/smp/csd.h"
#include "core/smp/csd_debug.h"
#include "core/smp/flush.h"
#include "core/smp/global_queue.h"
#include "core/smp/irq_work.h"
#include "core/smp/switches.h"
#include "core/smp/trace.h"

namespace sd::smp {

DEFINE_PER_CPU(call_function_data, cfd_data);
DEFINE_PER_CPU(call_single_data_t, csd_data);

namespace {

cpumask* zalloc_cpumask_var(const char* tag) {
  return static_cast<cpumask*>(kzalloc(cpumask_words() * sizeof(uint64_t), GFP_KERNEL, tag));
}

call_single_data_t* alloc_csds() {
  const size_t size = nr_cpu_ids() * sizeof(call_single_data_t);
  return static_cast<call_single_data_t*>(kzalloc(size, GFP_KERNEL, "cfd_csd"));
}

int alloc_cfd(call_function_data* cfd) {
  cfd->cpumask_work = zalloc_cpumask_var("cfd_cpumask");
  if (!cfd->cpumask_work) return -ENOMEM;
  cfd->cpumask_ipi = zalloc_cpumask_var("cfd_cpumask_ipi");
  if (!cfd->cpumask_ipi) {
    if (!bug(Bug::prepare_leaks_mask)) kfree(cfd->cpumask_work);
    return -ENOMEM;
  }
  // P05: once, for a task that called from this CPU may wait for its csds whatever the CPU does.
  if (patch(Patch::p05) && cfd->csd) return 0;
  call_single_data_t* csd = alloc_csds();
  if (!csd) {
    kfree(cfd->cpumask_work);
    kfree(cfd->cpumask_ipi);
    return -ENOMEM;
  }
  cfd->csd = csd;
  return 0;
}

}  // namespace

int smpcfd_prepare_cpu(unsigned cpu) {
  const int err = alloc_cfd(per_cpu_ptr(cfd_data, cpu));
  trace(tp::smpcfd_prepare, nullptr, cpu, static_cast<uint64_t>(-err));
  return err;
}

int smpcfd_dead_cpu(unsigned cpu) {
  call_function_data* cfd = per_cpu_ptr(cfd_data, cpu);
  trace(tp::smpcfd_dead, nullptr, cpu);
  kfree(cfd->cpumask_work);
  if (!bug(Bug::dead_leaks_mask)) kfree(cfd->cpumask_ipi);
  if (!patch(Patch::p05)) kfree(cfd->csd);
  return 0;
}

int smpcfd_dying_cpu(unsigned cpu) {
  trace(tp::smpcfd_dying_begin, nullptr, cpu);
  // IPIs that were sent before this CPU left the online mask may come late, or never: what they
  // stand for is run here. Nothing new can be queued, for who does so has preemption off, and
  // everyone else is spinning in stop_machine.
  if (!bug(Bug::h06) && !bug(Bug::dying_flush_in_idle)) __flush_smp_call_function_queue(false);
  if (has_global_queue()) global_queue_interrupt();
  if (!bug(Bug::dying_no_irq_work)) irq_work_run();
  trace(tp::smpcfd_dying_end, nullptr, cpu);
  return 0;
}

void call_function_init() {
  for_each_possible_cpu (cpu) init_llist_head(per_cpu_ptr(call_single_queue, cpu));
  csd_debug_init();
  global_queue_init();
  // The boot CPU, and those that this machine has brought up already.
  for_each_possible_cpu (cpu) {
    if (cpu_online(cpu)) smpcfd_prepare_cpu(cpu);
  }
}

}  // namespace sd::smp
