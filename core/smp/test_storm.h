// For the tests of this folder: tasks that call across CPUs at random while others go on-
// and offline, with the promises of each call checked from outside: how often its function
// ran, where, and when.
#pragma once

#include <cerrno>
#include <deque>

#include "core/kernel/choose.h"
#include "core/smp/test_machine.h"

namespace sd::smp::testing {

// One call. Lives until the storm is over, so that a function that runs too late is seen.
struct CallRecord {
  kernel::atomic_t runs_on[8];  // by CPU
  unsigned nonce;               // written plainly before the call; checked by the function
  int result[8];                // written plainly by the function; read after a waited call
  bool wait;
  int expected;  // no-wait: how often it has to run; waited: how often it had run on return
  call_single_data_t csd;
  unsigned relay_to;
  irq_work work;
};

enum class StormOp { single, any, many, all_nowait, async, relay, work, other };

struct StormOptions {
  unsigned tasks = 3;
  unsigned ops = 4;      // of each task
  unsigned plugs = 2;    // hotplug operations
  bool pin_many = true;  // smp_call_function_many() needs it below P06
  std::vector<StormOp> mix = {StormOp::many,   StormOp::many,       StormOp::many,  StormOp::single,
                              StormOp::single, StormOp::any,        StormOp::async, StormOp::relay,
                              StormOp::work,   StormOp::all_nowait, StormOp::other};
};

class Storm {
 public:
  explicit Storm(const StormOptions& options) : options_(options) {}

  // The first task of the machine.
  void operator()() {
    std::deque<Thread<Work>> callers;
    for (unsigned i = 0; i < options_.tasks; ++i) {
      callers.emplace_back(Work{this, false}, "caller");
      if (i % 2) {
        callers.back().start_on(i % sd_nr_cpus());
      } else {
        callers.back().start();
      }
    }
    Thread<Work> plugger(Work{this, true}, "plugger");
    plugger.start();
    for (auto& caller : callers) caller.join();
    plugger.join();
  }

  // After the execution: everything has run that has to, and nothing more.
  std::string verdict() const {
    for (size_t i = 0; i < records_.size(); ++i) {
      const CallRecord& record = records_[i];
      int runs = 0;
      for (const kernel::atomic_t& count : record.runs_on) runs += count.counter;
      if (runs != record.expected) {
        return "call " + std::to_string(i) + (record.wait ? " (waited)" : "") + " ran " +
               std::to_string(runs) + " times, expected " + std::to_string(record.expected);
      }
      if (record.csd.node.u_flags) return "call " + std::to_string(i) + ": csd still in use";
    }
    return "";
  }

  // The operations.

  void single() {
    const unsigned cpu = draw(sd_nr_cpus() + 1, kernel::choice::op_cpu);
    const bool wait = draw(2) == 0;
    CallRecord* record = new_record(wait);
    const int err = smp_call_function_single(static_cast<int>(cpu), handler, record, wait);
    SD_EXPECT(err == 0 || err == -ENXIO);
    record->expected = err == 0;
    if (!wait || err) return;
    SD_EXPECT(runs(*record) == 1 && runs_at(*record, cpu) == 1);
    SD_EXPECT(record->result[cpu] == static_cast<int>(cpu) + 1);
  }

  void any() {
    cpumask mask{};
    for (unsigned cpu = 0; cpu < sd_nr_cpus(); ++cpu) {
      if (draw(2, kernel::choice::op_mask)) kernel::__cpumask_set_cpu(cpu, &mask);
    }
    const bool wait = draw(2) == 0;
    CallRecord* record = new_record(wait);
    const int err = smp_call_function_any(&mask, handler, record, wait);
    SD_EXPECT(err == 0 || err == -ENXIO);
    record->expected = err == 0;
    if (wait) SD_EXPECT(runs(*record) == record->expected);
    for (unsigned cpu = 0; cpu < sd_nr_cpus(); ++cpu) {
      if (wait && runs_at(*record, cpu)) SD_EXPECT(kernel::cpumask_test_cpu(cpu, &mask));
    }
  }

  // Waited calls only: of the others it is not known from outside how many CPUs they went to.
  void many() {
    cpumask mask{};
    for (unsigned cpu = 0; cpu < sd_nr_cpus(); ++cpu) {
      if (draw(4, kernel::choice::op_mask) != 3) kernel::__cpumask_set_cpu(cpu, &mask);
    }
    CallRecord* record = new_record(true);
    switch (draw(4)) {
      case 0:
        smp_call_function(handler, record, true);
        break;
      case 1:
        if (options_.pin_many) kernel::preempt_disable();
        smp_call_function_many(&mask, handler, record, true);
        if (options_.pin_many) kernel::preempt_enable();
        break;
      case 2:
        on_each_cpu_mask(&mask, handler, record, true);
        break;
      default:
        on_each_cpu_cond(odd_cpu, handler, record, true);
        for (unsigned cpu = 0; cpu < sd_nr_cpus(); cpu += 2) SD_EXPECT(!runs_at(*record, cpu));
    }
    check_many(record);
  }

  void all_nowait() {
    smp_call_function([](void*) {}, nullptr, false);
  }

  void async() {
    const unsigned cpu = draw(sd_nr_cpus(), kernel::choice::op_cpu);
    CallRecord* record = new_record(false);
    record->csd.func = handler;
    record->csd.info = record;
    for (unsigned i = 1 + draw(2); i > 0; --i) {
      const int err = smp_call_function_single_async(static_cast<int>(cpu), &record->csd);
      SD_EXPECT(err == 0 || err == -ENXIO || err == -EBUSY);
      record->expected += err == 0;
    }
  }

  // Interrupt handlers that call on, to another CPU and there by irq_work: what they queue is all
  // that can be queued while stop_machine is under way.
  static void relay_first(void* p) {
    auto* record = static_cast<CallRecord*>(p);
    record->csd.func = relay_second;
    if (smp_call_function_single_async(static_cast<int>(record->relay_to), &record->csd)) {
      record->expected = 0;
    }
  }
  static void relay_second(void* p) { irq_work_queue(&static_cast<CallRecord*>(p)->work); }
  static void work_handler(irq_work* work) {
    handler(reinterpret_cast<char*>(work) - offsetof(CallRecord, work));
  }

  void relay() {
    CallRecord* record = new_record(false);
    init_irq_work(&record->work, work_handler);
    record->relay_to = draw(sd_nr_cpus(), kernel::choice::op_cpu);
    record->csd.func = relay_first;
    record->csd.info = record;
    record->expected = 1;
    const unsigned cpu = draw(sd_nr_cpus(), kernel::choice::op_cpu);
    if (smp_call_function_single_async(static_cast<int>(cpu), &record->csd)) record->expected = 0;
  }

  void work() {
    CallRecord* record = new_record(false);
    init_irq_work(&record->work, work_handler);
    if (draw(2)) {
      record->expected = irq_work_queue(&record->work);
    } else {
      kernel::cpus_read_lock();
      const unsigned cpu = draw(sd_nr_cpus(), kernel::choice::op_cpu);
      if (kernel::cpu_online(cpu)) record->expected = irq_work_queue_on(&record->work, cpu);
      kernel::cpus_read_unlock();
    }
  }

  void other() {
    switch (draw(4)) {
      case 0:
        kick_all_cpus_sync();
        break;
      case 1:
        wake_up_all_idle_cpus();
        break;
      case 2:
        resched_cpu(draw(sd_nr_cpus(), kernel::choice::op_cpu));
        break;
      default:
        (void)cpus_peek_for_pending_ipi(kernel::cpu_online_mask());
    }
  }

 private:
  struct Work {
    Storm* storm;
    bool plug;
    void operator()() { plug ? storm->plug() : storm->call_at_random(); }
  };

  static constexpr unsigned kNonce = 0x5d5d5d5d;

  static void handler(void* info) {
    auto* record = static_cast<CallRecord*>(info);
    SD_EXPECT(irqs_disabled());
    SD_EXPECT(record->nonce == kNonce);
    const unsigned cpu = kernel::smp_processor_id();
    record->result[cpu] = static_cast<int>(cpu) + 1;
    kernel::atomic_inc(&record->runs_on[cpu]);
  }
  static bool odd_cpu(int cpu, void*) { return cpu % 2 != 0; }

  static int runs(const CallRecord& record) {
    int sum = 0;
    for (const kernel::atomic_t& count : record.runs_on) sum += kernel::atomic_read(&count);
    return sum;
  }
  static int runs_at(const CallRecord& record, unsigned cpu) {
    return kernel::atomic_read(&record.runs_on[cpu]);
  }

  CallRecord* new_record(bool wait) {
    records_.emplace_back();
    records_.back() = CallRecord{};
    records_.back().nonce = kNonce;
    records_.back().wait = wait;
    return &records_.back();
  }

  static unsigned draw(unsigned n, kernel::choice purpose = kernel::choice::op_value) {
    return kernel::choose(n, purpose);
  }

  // On return of a waited call to many CPUs: once, or not at all, on each, and its
  // results are there.
  void check_many(CallRecord* record) {
    for (unsigned cpu = 0; cpu < sd_nr_cpus(); ++cpu) {
      const int count = runs_at(*record, cpu);
      SD_EXPECT(count == 0 || count == 1);
      SD_EXPECT(count == 0 || record->result[cpu] == static_cast<int>(cpu) + 1);
      record->expected += count;
    }
  }

  void perform(StormOp op) {
    switch (op) {
      case StormOp::single:
        return single();
      case StormOp::any:
        return any();
      case StormOp::many:
        return many();
      case StormOp::all_nowait:
        return all_nowait();
      case StormOp::async:
        return async();
      case StormOp::relay:
        return relay();
      case StormOp::work:
        return work();
      case StormOp::other:
        return other();
    }
  }

  void call_at_random() {
    const auto kinds = static_cast<unsigned>(options_.mix.size());
    for (unsigned i = 0; i < options_.ops; ++i) {
      perform(options_.mix[draw(kinds, kernel::choice::op_kind)]);
      SD_EXPECT(sd_preempt_count() == 0 && !irqs_disabled());
    }
  }

  void plug() {
    for (unsigned i = 0; i < options_.plugs; ++i) {
      const unsigned cpu = draw(sd_nr_cpus(), kernel::choice::onoff_cpu);
      if (kernel::cpu_online(cpu)) {
        sd_cpu_down(cpu, "plugger");
      } else {
        sd_cpu_up(cpu, "plugger");
      }
    }
  }

  StormOptions options_;
  std::deque<CallRecord> records_;
};

// One execution; the failure or the verdict of the storm, or "" if all is well.
inline std::string storm_once(const Config& config, const char* strategy, uint64_t seed,
                              StormOptions options) {
  options.pin_many = !series::has(config.patches, Patch::p06);
  Storm storm(options);
  const Outcome outcome = run_with(config, strategy, seed, [&storm] { storm(); });
  std::string text = outcome.failed ? text_of(outcome) : storm.verdict();
  if (!text.empty()) text = std::string(strategy) + ", seed " + std::to_string(seed) + ": " + text;
  return text;
}

// Up to `seeds` executions under all strategies; ends at the first that is not clean.
inline std::string storm(const Config& config, unsigned seeds, const StormOptions& options = {}) {
  static constexpr const char* kStrategies[] = {"random", "pct:3", "pos", "mix"};
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    std::string text =
        storm_once(config, kStrategies[seed % std::size(kStrategies)], seed, options);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace sd::smp::testing
