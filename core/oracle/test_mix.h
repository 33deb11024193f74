// For the tests of this folder: a random mix of calls on a machine with all oracles attached. The
// mix makes no checks of its own.
#pragma once

#include "core/kernel/choose.h"
#include "core/oracle/oracles.h"
#include "core/smp/test_machine.h"

namespace sd::oracle::testing {

using namespace sd::kernel;
using smp::testing::Config;
using smp::testing::Outcome;

struct Mix {
  unsigned callers = 3;
  unsigned ops = 6;      // of each caller
  unsigned plugs = 0;    // CPUs taken down and up again
  unsigned kinds = ~0u;  // bits of Kind
};

enum Kind : unsigned {
  single,
  single_wait,
  any,
  any_wait,
  many,
  many_wait,
  each,
  each_wait,
  cond_wait,
  async,
  rpc,
  work,
  sleep_a_while,
  kick,
  on_cpu,
  change_mask,
  kinds
};

// All that handlers and tasks of one execution share. Not of the machine's memory, so it is set up
// anew here.
struct MixState {
  Mix mix;
  atomic_t runs{};
  cpumask live{};
  struct OfCpu {
    smp::call_single_data_t csd{};
    smp::irq_work work{};
  };
  std::vector<OfCpu> by_cpu;
  struct Caller {
    smp::call_single_data_t csd{};
    smp::irq_work work{};
  };
  std::array<Caller, 16> callers{};
};
inline MixState* mix_state = nullptr;

inline void count_run(void*) {
  atomic_inc(&mix_state->runs);
}

inline void raise_work(void*) {
  atomic_inc(&mix_state->runs);
  smp::irq_work_queue(&mix_state->by_cpu[sd_this_cpu()].work);
}

// Goes on to another CPU, or to its own, with a csd that only this CPU's handlers use.
inline void pass_on(void*) {
  atomic_inc(&mix_state->runs);
  smp::call_single_data_t* csd = &mix_state->by_cpu[sd_this_cpu()].csd;
  if (data_race_read(&csd->node.u_flags) & smp::CSD_FLAG_LOCK) return;
  csd->func = choose(2, choice::op_value) ? raise_work : count_run;
  smp::smp_call_function_single_async(static_cast<int>(choose(nr_cpu_ids(), choice::op_cpu)), csd);
}

inline bool odd_only(int cpu, void*) {
  return READ_ONCE(mix_state->runs.counter) % 2 == 1 || cpu % 2 == 1;
}

inline smp::smp_call_func_t random_func() {
  static constexpr smp::smp_call_func_t kFuncs[] = {count_run, count_run, count_run, pass_on,
                                                    raise_work};
  return kFuncs[choose(std::size(kFuncs), choice::op_value)];
}

inline const cpumask* random_mask(cpumask* own) {
  const uint32_t what = choose(4, choice::op_value);
  if (what == 0) return cpu_online_mask();
  if (what == 1) return &mix_state->live;
  if (what == 2) return cpu_active_mask();
  cpumask_clear(own);
  for_each_possible_cpu (cpu) {
    if (choose(2, choice::op_mask)) __cpumask_set_cpu(cpu, own);
  }
  return own;
}

inline void call_many(const cpumask* mask, bool wait) {
  const bool pin = !patch(series::Patch::p06);
  if (pin) preempt_disable();
  smp::smp_call_function_many(mask, random_func(), nullptr, wait);
  if (pin) preempt_enable();
}

inline void call_async(MixState::Caller* caller) {
  if (!(data_race_read(&caller->csd.node.u_flags) & smp::CSD_FLAG_LOCK))
    caller->csd.func = random_func();
  smp::smp_call_function_single_async(static_cast<int>(choose(nr_cpu_ids() + 1, choice::op_cpu)),
                                      &caller->csd);
}

inline void call_rpc() {
  completion done;
  init_completion(&done);
  const int cpu = static_cast<int>(choose(nr_cpu_ids(), choice::op_cpu));
  const auto answer = [](void* p) { complete(static_cast<completion*>(p)); };
  if (smp::smp_call_function_single(cpu, answer, &done, false) == 0) wait_for_completion(&done);
}

inline void queue_work(MixState::Caller* caller) {
  if (choose(2, choice::op_value)) {
    cpus_read_lock();
    const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
    if (cpu_online(cpu)) smp::irq_work_queue_on(&caller->work, cpu);
    cpus_read_unlock();
  } else {
    smp::irq_work_queue(&caller->work);
  }
}

inline void change_live_mask() {
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  if (choose(2, choice::op_value)) {
    cpumask_set_cpu(cpu, &mix_state->live);
  } else {
    cpumask_clear_cpu(cpu, &mix_state->live);
  }
}

inline void one_op(MixState::Caller* caller) {
  unsigned kind = choose(kinds, choice::op_kind);
  while (!(mix_state->mix.kinds & (1u << kind))) kind = (kind + 1) % kinds;
  cpumask own;
  const auto cpu = [] { return static_cast<int>(choose(nr_cpu_ids() + 1, choice::op_cpu)); };
  switch (kind) {
    case single:
    case single_wait:
      smp::smp_call_function_single(cpu(), random_func(), nullptr, kind == single_wait);
      break;
    case any:
    case any_wait:
      smp::smp_call_function_any(random_mask(&own), random_func(), nullptr, kind == any_wait);
      break;
    case many:
    case many_wait:
      call_many(random_mask(&own), kind == many_wait);
      break;
    case each:
    case each_wait:
      smp::on_each_cpu_mask(random_mask(&own), random_func(), nullptr, kind == each_wait);
      break;
    case cond_wait:
      smp::on_each_cpu_cond_mask(odd_only, count_run, nullptr, true, random_mask(&own));
      break;
    case async:
      call_async(caller);
      break;
    case rpc:
      call_rpc();
      break;
    case work:
      queue_work(caller);
      break;
    case sleep_a_while:
      schedule_timeout_interruptible(1 + choose(3, choice::sleep_fuzz));
      break;
    case kick:
      smp::kick_all_cpus_sync();
      break;
    case on_cpu:
      smp::smp_call_on_cpu(
          sd_this_cpu(), [](void*) { return 0; }, nullptr, false);
      break;
    case change_mask:
      change_live_mask();
      break;
    default:
      break;
  }
}

inline void plug(unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    const unsigned cpu = choose(nr_cpu_ids(), choice::onoff_cpu);
    cpu_online(cpu) ? sd_cpu_down(cpu, "plug") : sd_cpu_up(cpu, "plug");
  }
}

inline void run_mix() {
  MixState* state = mix_state;
  cpumask_copy(&state->live, cpu_online_mask());
  for (auto& cpu : state->by_cpu)
    smp::init_irq_work(&cpu.work, [](smp::irq_work*) { count_run(nullptr); });
  // On the stack of a context that may be abandoned: nothing that needs a destructor.
  std::array<task_struct*, std::tuple_size_v<decltype(MixState::callers)>> tasks{};
  for (unsigned i = 0; i < state->mix.callers; ++i) {
    smp::init_irq_work(&state->callers[i].work, [](smp::irq_work*) { count_run(nullptr); });
    const auto body = [](void* p) {
      for (unsigned n = 0; n < mix_state->mix.ops; ++n) one_op(static_cast<MixState::Caller*>(p));
      return 0;
    };
    tasks[i] = smp::testing::create_thread(body, &state->callers[i], "caller");
  }
  for (unsigned i = 0; i < state->mix.callers; ++i) wake_up_process(tasks[i]);
  plug(state->mix.plugs);
  for (unsigned i = 0; i < state->mix.callers; ++i) kthread_join(tasks[i]);
}

// One execution of the mix with the oracles that are attached to the trace.
inline Outcome run_mix_once(const Config& config, const Mix& mix, const std::string& strategy,
                            uint64_t seed) {
  MixState state;
  state.mix = mix;
  state.by_cpu.resize(config.cpus);
  mix_state = &state;
  const Outcome outcome = smp::testing::run_with(config, strategy, seed, run_mix);
  mix_state = nullptr;
  return outcome;
}

// Oracles that watch the machine for as long as this lives.
class Attached {
 public:
  Attached() : oracles(make_oracles()) {
    smp::register_stack();
    for (const auto& oracle : oracles) machine::trace().attach(oracle.get());
  }
  ~Attached() { machine::trace().detach_all(); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  const Oracles oracles;
};

}  // namespace sd::oracle::testing
