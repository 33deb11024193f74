#include "torture/scf/scf.h"

#include "core/kernel/softirq.h"
#include "torture/scf/cleanup.h"
#include "torture/scf/events.h"
#include "torture/scf/handler.h"
#include "torture/scf/invoker.h"
#include "torture/scf/onoff.h"
#include "torture/scf/swap.h"
#include "torture/scf/threads.h"

namespace sd::scf {

namespace {

// -1: one per online CPU; all of them will be, if the onoff thread has anything to say.
unsigned number_of_threads(const ScfParams& params) {
  if (params.nthreads >= 0) return static_cast<unsigned>(params.nthreads);
  return params.onoff_interval > 0 ? nr_cpu_ids() : kernel::num_online_cpus();
}

}  // namespace

void scf_main(void* arg) {
  auto* run = static_cast<ScfRun*>(arg);
  ScfState* st = &scf_state;
  smp::trace(tp::phase, nullptr, static_cast<uint64_t>(tp::Phase::init));
  run->stats = ScfStats{};
  run->init_failed = false;
  run->was_shut_down = false;
  st->run = run;
  st->params = run->params;
  st->main_task = kernel::current();
  if (build_selector(run->params->weights, nr_cpu_ids(), &st->selector) != SelectorError::none) {
    run->init_failed = true;
    return;
  }
  gate_set(&st->stop, 1);
  st->nthreads = number_of_threads(*run->params);
  st->nswappers = nr_cpu_ids() > 1 ? static_cast<unsigned>(run->params->swaps) : 0;
  // Without an invoker nothing but shutdown_secs ends a test; where that is not set either,
  // nothing is left to do.
  const unsigned tasks = st->nthreads + st->nswappers;
  gate_set(&st->active, tasks == 0 && run->params->shutdown_secs > 0 ? 1 : tasks);
  start_onoff();
  start_shutdown();
  start_stutter();
  start_invokers();
  start_swappers();
  start_shuffle();
  data_race_write(&st->boot_ended, true);
  smp::trace(tp::phase, nullptr, static_cast<uint64_t>(tp::Phase::run));

  gate_wait(&st->active);
  scf_torture_cleanup();
}

void register_scf() {
  tp::register_events();
  kernel::open_softirq(kScfSoftirq, scf_softirq);
}

}  // namespace sd::scf
