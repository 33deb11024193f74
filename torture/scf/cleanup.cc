#include "torture/scf/cleanup.h"

#include "core/kernel/slab.h"
#include "torture/scf/events.h"
#include "torture/scf/fail.h"
#include "torture/scf/handler.h"
#include "torture/scf/invoker.h"
#include "torture/scf/onoff.h"
#include "torture/scf/relay.h"
#include "torture/scf/swap.h"
#include "torture/scf/threads.h"

namespace sd::scf {

namespace {

// Longer than the machine lets a timer fire ahead of what others could still do: a sleep of this
// length ends when nothing else can happen.
constexpr uint64_t kLastResort = 10 * kernel::kHz;

void phase(tp::Phase phase) {
  smp::trace(tp::phase, nullptr, static_cast<uint64_t>(phase));
}

void stop_threads() {
  ScfState* st = &scf_state;
  gate_open(&st->stop);
  sd_wake_all(&st->progress.waiting);
  wake_invokers();
  torture_stop_kthread("torture_shutdown", &st->shutdown_task);
  torture_stop_kthread("torture_shuffle", &st->shuffle_task);
  torture_stop_kthread("torture_stutter", &st->stutter_task);
  torture_stop_kthread("torture_onoff", &st->onoff_task);
  stop_swappers();
  for (unsigned i = 0; i < st->nthreads; ++i) {
    Invoker* t = &st->invokers[i];
    if (data_race_read(&t->ended)) {
      kernel::kthread_join(t->task);  // nobody has to be woken
    } else {
      torture_stop_kthread("\"scftorture_invoker\"", &t->task);
    }
  }
}

bool is_quiet() {
  const ScfState* st = &scf_state;
  return data_race_read(&st->outstanding) <= 0 && data_race_read(&st->outstanding_null) <= 0;
}

// No no-wait request is on its way any more. The last handler ends the sleep; should one have been
// lost, everything else that could happen has happened by the end of it (twice, for a handler that
// took long).
void wait_until_quiet() {
  ScfState* st = &scf_state;
  const uint64_t longest = kLastResort + static_cast<uint64_t>(st->params->longwait) * kernel::kHz;
  data_race_write(&st->quiescing, true);
  for (int slept_out = 0; !is_quiet() && slept_out < 2;) {
    if (kernel::schedule_timeout_interruptible(longest) == 0) ++slept_out;
  }
  sd_sync_acquire(&st->outstanding);
  if (!is_quiet()) {
    SCF_FAIL(n_errs, "S-I55", "scf_torture_cleanup",
             "%d no-wait requests have been lost: nothing is left that could run them",
             data_race_read(&st->outstanding) + data_race_read(&st->outstanding_null));
  }
  if (data_race_read(&st->inexact)) {
    // Calls made while a CPU was on its way: whether it was called is known only when all is over.
    data_race_write(&st->quiescing, false);
    for (int i = 0; i < 2; ++i) kernel::schedule_timeout_interruptible(longest);
    sd_sync_acquire(&st->outstanding);
  }
}

void finish_invoker(Invoker* t) {
  while (scf_check* scfcp = t->kept) {
    t->kept = scfcp->next_kept;
    t->stats.expected += scf_judge(scfcp, false, "scf_torture_cleanup");
    scf_free(scfcp);
  }
  finish_relays(t);
  if (t->irq_work_used) smp::irq_work_sync(&t->work);
  if (!t->async) return;
  for_each_possible_cpu (cpu) {
    const scf_receiver* receiver = scf_receiver_of(t->async, cpu);
    if (receiver->ran == receiver->asked) continue;
    SCF_FAIL(n_errs, "scf-count", "scf_torture_cleanup",
             "smp_call_function_single_async succeeded %d times for CPU %u, but its handler ran %d "
             "times",
             receiver->asked, cpu, receiver->ran);
  }
  scf_free(t->async);
}

// Adds up, and compares what ran with what was asked for (S-I55).
void sum_up(ScfStats* stats) {
  const ScfState* st = &scf_state;
  int64_t slack = 0;
  for (unsigned i = 0; i < st->nthreads; ++i) {
    const scf_statistics& one = st->invokers[i].stats;
    for (unsigned prim = 0; prim < kPrims; ++prim) {
      stats->n[prim] += one.n[prim];
      stats->n_ofl[prim] += one.n_ofl[prim];
    }
    stats->n_async_busy += one.n_async_busy;
    stats->n_alloc_errs += one.n_alloc_errs;
    stats->ops += one.ops;
    stats->expected += one.expected;
    slack += one.slack;
  }
  for_each_possible_cpu (cpu) stats->invoked += per_cpu(scf_invoked_count, cpu);
  collect_onoff(stats);
  const int64_t more = stats->invoked - stats->expected;
  if (more < 0 || more > slack) {
    SCF_FAIL(n_errs, "S-I55", "scf_torture_cleanup",
             "scf_invoked_count is %lld, but %lld%s%lld invocations were asked for",
             static_cast<long long>(stats->invoked), static_cast<long long>(stats->expected),
             slack ? " to " : " = ", static_cast<long long>(stats->expected + slack));
  }
  stats->expected = stats->invoked;
}

void check_all_freed() {
  for_each_possible_cpu (cpu) scf_drain_pool(cpu);
  const int live = data_race_read(&(&scf_state)->live);
  if (live) {
    SCF_FAIL(n_errs, "S-I57", "scf_torture_cleanup", "%d torture objects were never freed", live);
  }
}

}  // namespace

void scf_torture_cleanup() {
  ScfState* st = &scf_state;
  phase(tp::Phase::cleanup);
  stop_threads();
  smp::smp_call_function(scf_empty_handler, nullptr, true);
  phase(tp::Phase::quiesce);
  wait_until_quiet();
  phase(tp::Phase::check);
  for (unsigned i = 0; i < st->nthreads; ++i) finish_invoker(&st->invokers[i]);
  check_all_freed();
  sum_up(&st->run->stats);
  data_race_write(&st->cleaned, true);
  if (take_plant(Plant::late)) smp::smp_call_function_single(0, scf_handler_null, nullptr, true);
  kernel::kfree(st->invokers);
  phase(tp::Phase::done);
}

}  // namespace sd::scf
