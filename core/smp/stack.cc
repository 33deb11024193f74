// What the stack gives to the machine.
#include "core/kernel/softirq.h"
#include "core/smp/flush.h"
#include "core/smp/global_queue.h"
#include "core/smp/idle.h"
#include "core/smp/irq_work.h"
#include "core/smp/sched.h"
#include "core/smp/smp.h"
#include "core/smp/smpcfd.h"
#include "core/smp/task_mask.h"
#include "core/smp/trace.h"

namespace sd::smp {
namespace {

void handle_vector(unsigned vector) {
  switch (vector) {
    case sd_vec_call_function:
      if (has_global_queue()) global_queue_interrupt();
      [[fallthrough]];
    case sd_vec_call_function_single:
      generic_smp_call_function_single_interrupt();
      break;
    case sd_vec_irq_work:
      irq_work_run();
      break;
    default:  // reschedule: what is due happens on the way out of the interrupt
      break;
  }
}

}  // namespace

void register_stack() {
  static bool registered = false;
  if (registered) return;
  registered = true;

  sd_stack_ops ops{};
  ops.boot = call_function_init;
  ops.idle_loop = cpu_idle_loop;
  ops.handle_vector = handle_vector;
  ops.irq_exit = kernel::irq_exit;
  ops.task_created = smp_task_created;
  ops.task_freed = smp_task_freed;
  ops.ttwu_queue = ttwu_queue_wakelist;
  ops.stopper_flush = flush_smp_call_function_queue;
  sd_register_stack(&ops);
  sd_cpuhp_setup_state(sd_cpuhp_smpcfd_prepare, smpcfd_prepare_cpu, smpcfd_dead_cpu);
  sd_cpuhp_setup_state(sd_cpuhp_ap_sched_starting, kernel::softirq_cpu_starting, sched_cpu_dying);
  sd_cpuhp_setup_state(sd_cpuhp_ap_smpcfd_dying, nullptr, smpcfd_dying_cpu);
  tp::register_events();
}

}  // namespace sd::smp
