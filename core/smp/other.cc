// The entry points that are not calls of a function by interrupt, or are built on
// those (kernel/smp.c).
#include <cerrno>

#include "core/kernel/kthread.h"
#include "core/smp/sched.h"
#include "core/smp/smp.h"
#include "core/smp/switches.h"
#include "core/smp/trace.h"

namespace sd::smp {
namespace {

void do_nothing(void*) {}

// A call of smp_call_on_cpu(), on the caller's stack.
struct smp_call_on_cpu_struct {
  work_struct work;
  completion done;
  int (*func)(void*);
  void* data;
  int ret;
};

void smp_call_on_cpu_callback(work_struct* work) {
  auto* sscs = reinterpret_cast<smp_call_on_cpu_struct*>(work);
  sscs->ret = sscs->func(sscs->data);
  complete(&sscs->done);
}

int call_on_cpu(unsigned cpu, int (*func)(void*), void* par) {
  smp_call_on_cpu_struct sscs{};
  sscs.work.func = smp_call_on_cpu_callback;
  sscs.func = func;
  sscs.data = par;
  init_completion(&sscs.done);
  // A hint only: the CPU may go offline right behind it, and the work is then done elsewhere.
  if (cpu >= nr_cpu_ids() || !cpu_online(cpu)) return -ENXIO;
  queue_work_on(cpu, &sscs.work);
  wait_for_completion(&sscs.done);
  return sscs.ret;
}

}  // namespace

// Afterwards no CPU runs with what a pointer held before the caller changed it: each has been
// through an interrupt since.
void kick_all_cpus_sync() {
  trace(tp::kick_begin, nullptr, reinterpret_cast<uint64_t>(do_nothing));
  if (!bug(Bug::kick_no_mb)) smp_mb();
  smp_call_function(do_nothing, nullptr, true);
  trace(tp::kick_end);
}

void wake_up_all_idle_cpus() {
  for_each_possible_cpu (cpu) {
    preempt_disable();
    if (cpu != smp_processor_id() && cpu_online(cpu)) wake_up_if_idle(cpu);
    preempt_enable();
  }
}

bool cpus_peek_for_pending_ipi(const cpumask* mask) {
  cpumask cpus;
  cpumask_copy(&cpus, mask);
  for_each_cpu (cpu, &cpus) {
    if (!llist_empty(per_cpu_ptr(call_single_queue, cpu))) return true;
  }
  return false;
}

// `phys` asks a hypervisor to pin the vCPU meanwhile, of which there is none.
int smp_call_on_cpu(unsigned cpu, int (*fn)(void*), void* par, bool /*phys*/) {
  const call_args args{
      .kind = call_kind::smp_call_on_cpu, .wait = true, .cpu = static_cast<int>(cpu), .info = par};
  trace(tp::call_begin, &args, static_cast<uint64_t>(args.kind), 1);
  const int ret = call_on_cpu(cpu, fn, par);
  trace(tp::call_end, &args, static_cast<uint32_t>(ret));
  return ret;
}

}  // namespace sd::smp
