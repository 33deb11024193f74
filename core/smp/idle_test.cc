// The idle loop: waking without an interrupt, wake-ups through the call queue, rescheduling.
#include "core/smp/idle.h"

#include "core/machine/events.h"
#include "core/smp/sched.h"
#include "core/smp/test_holder.h"
#include "core/smp/trace.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

// Counts events.
class Counter : public engine::Observer {
 public:
  const char* name() const override { return "counter"; }
  std::vector<engine::EventId> interests() const override {
    return {machine::event::ipi_send, tp::wake_idle_without_ipi, tp::ttwu_queue, tp::ttwu_activate};
  }
  void on_begin() override { *this = Counter{}; }
  void on_event(const engine::Event& event) override {
    switch (event.id) {
      case machine::event::ipi_send:
        ++ipis[event.b];
        break;
      case tp::wake_idle_without_ipi:
        ++without_ipi;
        break;
      case tp::ttwu_queue:
        ++ttwu_queued;
        break;
      default:
        ++ttwu_activated;
    }
  }

  unsigned ipis[sd_nr_vectors] = {};
  unsigned without_ipi = 0, ttwu_queued = 0, ttwu_activated = 0;
};

template <typename Body>
Counter count(const Config& config, const char* strategy, uint64_t seed, Body body) {
  Counter counter;
  machine::trace().attach(&counter);
  const Outcome outcome = run_with(config, strategy, seed, body);
  machine::trace().detach_all();
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
  return counter;
}

Config polling(int64_t percent, unsigned cpus = 2) {
  Config config = make_config(cpus);
  set_param(&config, Param::idle_poll_percent, percent);
  return config;
}

void stay_on(unsigned cpu) {
  kernel::set_cpus_allowed_cpu(kernel::current(), cpu);
}

// CPU 1 idles with interrupts on by then.
void call_twice() {
  stay_on(0);
  smp_call_function_single(
      1, [](void*) {}, nullptr, true);
  kernel::schedule_timeout_interruptible(10);
  smp_call_function_single(
      1, [](void*) {}, nullptr, true);
}

TEST(Idle, APollingCpuIsCalledWithoutAnInterrupt) {
  const Counter counter = count(polling(100), "calm", 1, call_twice);
  EXPECT_EQ(counter.ipis[sd_vec_call_function_single], 1u);  // it has halted since boot
  EXPECT_EQ(counter.without_ipi, 1u);
}

TEST(Idle, AHaltedCpuIsInterrupted) {
  const Counter counter = count(polling(0), "calm", 1, call_twice);
  EXPECT_EQ(counter.ipis[sd_vec_call_function_single], 2u);
  EXPECT_EQ(counter.without_ipi, 0u);
}

TEST(Idle, CallsToSeveralCpusAlwaysInterrupt) {
  const Counter counter = count(polling(100, 3), "calm", 1, [] {
    stay_on(0);
    for (int i = 0; i < 2; ++i) {
      smp_call_function([](void*) {}, nullptr, true);
      kernel::schedule_timeout_interruptible(10);
    }
  });
  EXPECT_EQ(counter.ipis[sd_vec_call_function], 4u);
}

TEST(Idle, NoCallIsLostBetweenPollingAndSleeping) {
  for (int64_t percent : {50, 90, 100}) {
    expect_clean(polling(percent, 3), 300, [] {
      Seen seen{};
      for (int i = 0; i < 6; ++i) {
        SD_EXPECT(smp_call_function_single(1 + i % 2, note, &seen, true) == 0);
      }
      SD_EXPECT(runs(seen) == 6);
    });
  }
}

// Two tasks that wake each other in turn.
void play_ping_pong() {
  kernel::completion ping{}, pong{};
  Thread partner([&ping, &pong] {
    for (int i = 0; i < 4; ++i) {
      kernel::wait_for_completion(&ping);
      kernel::complete(&pong);
    }
  });
  partner.start();
  for (int i = 0; i < 4; ++i) {
    kernel::complete(&ping);
    kernel::wait_for_completion(&pong);
  }
  partner.join();
}

TEST(Idle, WakeUpsThroughTheCallQueueArrive) {
  unsigned queued = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Counter counter = count(make_config(3), "random", seed, play_ping_pong);
    EXPECT_EQ(counter.ttwu_queued, counter.ttwu_activated);
    queued += counter.ttwu_queued;
  }
  EXPECT_GT(queued, 20u);
}

TEST(Idle, WakeUpsSurviveHotplug) {
  expect_clean(make_config(3), 300, [] {
    Thread plugger([] { plug_and_unplug(1); });
    plugger.start();
    play_ping_pong();
    plugger.join();
  });
}

TEST(Idle, WakeUpAllIdleCpusWakesThemFromPollingAndFromSleep) {
  for (int64_t percent : {0, 100}) {
    const Counter counter = count(polling(percent, 4), "calm", 1, [] {
      stay_on(0);
      smp_call_function([](void*) {}, nullptr, true);
      kernel::schedule_timeout_interruptible(10);
      SD_EXPECT(sd_cpu_down(3, __func__) == 0);
      kernel::schedule_timeout_interruptible(10);
      wake_up_all_idle_cpus();
      SD_EXPECT(sd_cpu_up(3, __func__) == 0);
    });
    EXPECT_GE(counter.without_ipi + counter.ipis[sd_vec_reschedule], 2u);
  }
  expect_clean(make_config(4), 200, [] {
    Thread plugger([] { plug_and_unplug(1); });
    plugger.start();
    for (int i = 0; i < 4; ++i) wake_up_all_idle_cpus();
    plugger.join();
  });
}

TEST(Idle, ReschedCpuSendsOneInterruptToABusyCpu) {
  const Counter counter = count(polling(0), "calm", 1, [] {
    stay_on(0);
    Holder holder;
    holder.hold(1);
    resched_cpu(1);
    resched_cpu(1);  // requested already
    resched_cpu(0);  // only a flag
    holder.release();
  });
  EXPECT_EQ(counter.ipis[sd_vec_reschedule], 1u);
}

TEST(Idle, ReschedCpuIsHarmlessWhateverTheCpuDoes) {
  expect_clean(make_config(3), 300, [] {
    Thread plugger([] { plug_and_unplug(1); });
    Thread other([] {
      for (unsigned i = 0; i < 6; ++i) resched_cpu(i % 3);
    });
    plugger.start();
    other.start();
    for (unsigned i = 0; i < 6; ++i) resched_cpu((i + 1) % 3);
    other.join();
    plugger.join();
  });
}

// Called as by the stopper of a dying CPU, which is alone there.
TEST(SchedCpuDying, WarnsAboutTasksThatAreLeftBehind) {
  const auto look = [](bool runnable, bool pinned) {
    return run_with(make_config(2), "calm", 1, [=] {
      stay_on(1);
      Thread other([] {});
      if (runnable) other.start_on(1);
      if (pinned) sd_migrate_disable(__func__);
      sched_cpu_dying(1);
      if (pinned) sd_migrate_enable(__func__);
      if (runnable) other.join();
    });
  };
  EXPECT_FALSE(look(false, false).failed);
  for (const Outcome& outcome : {look(true, false), look(false, true)}) {
    EXPECT_EQ(outcome.failure.id, "WARN");
    EXPECT_EQ(outcome.failure.message, "WARNING: Dying CPU not properly vacated!\n");
  }
}

TEST(Idle, PendingCallsAreSeen) {
  expect_clean_calm(make_config(3), [] {
    stay_on(0);
    const cpumask one = mask_of({1}), two = mask_of({2});
    Holder holder;
    holder.hold(1);
    SD_EXPECT(!cpus_peek_for_pending_ipi(&one));
    Seen seen{};
    SD_EXPECT(smp_call_function_single(1, note, &seen, false) == 0);
    SD_EXPECT(cpus_peek_for_pending_ipi(&one));
    SD_EXPECT(!cpus_peek_for_pending_ipi(&two));
    holder.release();
    smp_call_function_single(
        1, [](void*) {}, nullptr, true);
    SD_EXPECT(!cpus_peek_for_pending_ipi(&one));
    SD_EXPECT(runs(seen) == 1);
  });
}

}  // namespace
}  // namespace sd::smp
