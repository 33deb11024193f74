#include "torture/scf/invoker.h"

#include "core/kernel/bug.h"
#include "core/kernel/slab.h"
#include "torture/scf/invoke.h"
#include "torture/scf/threads.h"

namespace sd::scf {

namespace {

// Invokers whose own CPU is offline wait here for it.
DEFINE_PER_CPU(sd_waitq, scf_cpu_back);

// Binds the caller to its CPU, unless that is on its way up or down. The kernel binds once more
// only if it has seen the CPU offline; here also if that was missed.
void pin(Invoker* t) {
  if (pin_intact(t) || hotplug_busy(t->cpu) || !is_online(t->cpu)) return;
  const uint32_t seq = hotplug_seq();
  if (kernel::set_cpus_allowed_cpu(kernel::current(), t->cpu)) return;
  t->pin_seq = seq;
  t->pinned = true;
}

// The start gate. In 6.12 each thread counts itself off and then waits only if it was the last
// one, for which there is nothing to wait: no gate.
void pass_start_gate(const Invoker* t) {
  ScfState* st = &scf_state;
  scf_verbose("scftorture: scftorture_invoker %u: Waiting for all SCF torturers from cpu %u\n",
              t->index, smp_processor_id());
  gate_arrive(&st->start);
  if (bug(Bug::scf_inverted_gate)) return;
  if (kernel::preempt_model_full()) {
    gate_spin(&st->start);
  } else {
    gate_wait(&st->start);
  }
}

// Its own CPU is offline: it waits until that is back. It does not hold the execution up
// meanwhile, since whether the CPU comes back before the end is up to the onoff thread.
void wait_for_cpu(const Invoker* t) {
  ScfState* st = &scf_state;
  if (is_online(t->cpu) || torture_must_stop()) return;
  gate_arrive(&st->active);
  while (!is_online(t->cpu) && !torture_must_stop())
    sd_block_on(per_cpu_ptr(scf_cpu_back, t->cpu), __func__);
  gate_join(&st->active);
}

bool has_more(const Invoker* t) {
  const int ops = (&scf_state)->params->ops;
  return ops <= 0 || t->stats.ops < ops;
}

int scftorture_invoker(void* arg) {
  auto* t = static_cast<Invoker*>(arg);
  ScfState* st = &scf_state;
  scf_verbose("scftorture: scftorture_invoker %u: task started\n", t->index);
  if (st->params->holdoff > 0) {
    kernel::schedule_timeout_interruptible(static_cast<uint64_t>(st->params->holdoff) *
                                           kernel::kHz);
  }
  pin(t);
  pass_start_gate(t);
  const unsigned cpu = smp_processor_id();
  WARN_ONCE(pin_intact(t) && cpu != t->cpu, "%s: Wanted CPU %u, running on %u, nr_cpu_ids = %u\n",
            __func__, t->cpu, cpu, nr_cpu_ids());
  if (torture_must_stop()) {
    scf_verbose("scftorture: scftorture_invoker %u ended before starting\n", t->index);
  } else {
    scf_verbose("scftorture: scftorture_invoker %u started\n", t->index);
    do {
      scftorture_invoke_one(t);
      if (!has_more(t)) break;
      wait_for_cpu(t);
      pin(t);
      if (!kernel::preempt_model_full()) kernel::cond_resched();
      stutter_wait();
    } while (!torture_must_stop());
    scf_verbose("scftorture: scftorture_invoker %u ended\n", t->index);
  }
  torture_kthread_stopping("scftorture_invoker");
  data_race_write(&t->ended, true);
  gate_arrive(&st->active);
  return 0;
}

// "scftorture_invoker/12": no formatting library on the machine.
void invoker_name(char (&name)[32], unsigned index) {
  static constexpr char kPrefix[] = "scftorture_invoker/";
  unsigned at = 0;
  for (; kPrefix[at]; ++at) name[at] = kPrefix[at];
  unsigned divisor = 1;
  while (index / divisor >= 10) divisor *= 10;
  for (; divisor; divisor /= 10) name[at++] = static_cast<char>('0' + index / divisor % 10);
  name[at] = 0;
}

}  // namespace

void start_invokers() {
  ScfState* st = &scf_state;
  const size_t size = st->nthreads * sizeof(Invoker);
  st->invokers = static_cast<Invoker*>(kernel::kzalloc(size, kernel::GFP_NOFAIL, "scf_stats"));
  scf_verbose("scftorture: Starting %u smp_call_function() threads\n", st->nthreads);
  gate_set(&st->start, st->nthreads);
  for (unsigned i = 0; i < st->nthreads; ++i) {
    Invoker* t = &st->invokers[i];
    t->index = i;
    t->cpu = i % nr_cpu_ids();
    char name[32];
    invoker_name(name, i);
    t->task = torture_create_kthread(scftorture_invoker, t, name);
    // Binding it before it runs, where the kernel's threads bind themselves, saves a migration.
    if (is_online(t->cpu) && !hotplug_busy(t->cpu)) {
      t->pin_seq = hotplug_seq();
      t->pinned = true;
      kernel::kthread_bind(t->task, t->cpu);
    }
    kernel::wake_up_process(t->task);
  }
}

void wake_invokers() {
  ScfState* st = &scf_state;
  gate_open(&st->start);
  for_each_possible_cpu (cpu) wake_parked_invokers(cpu);
}

void wake_parked_invokers(unsigned cpu) {
  sd_waitq* queue = per_cpu_ptr(scf_cpu_back, cpu);
  if (sd_wake_all(queue)) sd_point(sd_point_wake, queue, __func__);
}

}  // namespace sd::scf
