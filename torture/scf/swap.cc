#include "torture/scf/swap.h"

#include <cerrno>

#include "core/kernel/choose.h"
#include "core/kernel/preempt.h"
#include "core/kernel/slab.h"
#include "core/kernel/stop_machine.h"
#include "torture/scf/fail.h"
#include "torture/scf/threads.h"

namespace sd::scf {

namespace {

// One stop, on the stack of the task that asked for it.
struct Swap {
  unsigned cpu;  // where the function is to run
  unsigned runs;
  bool right;  // there, and with interrupts off
};

int scf_swap_stop(void* arg) {
  auto* swap = static_cast<Swap*>(arg);
  data_race_write(&swap->runs, data_race_read(&swap->runs) + 1);
  data_race_write(&swap->right, smp_processor_id() == swap->cpu && sd_irqs_disabled());
  return 0;
}

void swap_once(unsigned cpu1, unsigned cpu2) {
  Swap swap{.cpu = cpu1, .runs = 0, .right = true};
  const int ret = kernel::stop_two_cpus(cpu1, cpu2, scf_swap_stop, &swap);
  const unsigned runs = data_race_read(&swap.runs);
  const unsigned wanted = ret == 0 ? 1 : 0;
  if (runs != wanted || !data_race_read(&swap.right)) {
    SCF_FAIL(n_errs, "scf-stop", "scftorture_swapper",
             "stop_two_cpus(%u, %u) returned %d, and its function ran %u times%s", cpu1, cpu2, ret,
             runs, data_race_read(&swap.right) ? "" : ", elsewhere or with interrupts on");
  }
}

int scftorture_swapper(void*) {
  ScfState* st = &scf_state;
  for (int ops = 0; !torture_must_stop() && (st->params->ops <= 0 || ops < st->params->ops);
       ++ops) {
    const unsigned cpu1 = kernel::choose(nr_cpu_ids(), kernel::choice::op_cpu);
    const unsigned other = kernel::choose(nr_cpu_ids() - 1, kernel::choice::op_cpu);
    swap_once(cpu1, other < cpu1 ? other : other + 1);
  }
  torture_kthread_stopping("scftorture_swapper");
  gate_arrive(&st->active);
  return 0;
}

}  // namespace

void start_swappers() {
  ScfState* st = &scf_state;
  for (unsigned i = 0; i < st->nswappers; ++i) {
    st->swappers[i] = torture_create_kthread(scftorture_swapper, nullptr, "scftorture_swapper");
    kernel::wake_up_process(st->swappers[i]);
  }
}

void stop_swappers() {
  ScfState* st = &scf_state;
  for (unsigned i = 0; i < st->nswappers; ++i)
    torture_stop_kthread("scftorture_swapper", &st->swappers[i]);
}

}  // namespace sd::scf
