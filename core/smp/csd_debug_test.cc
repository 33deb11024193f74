// csd-lock debugging: what it says, and when.
#include "core/smp/csd_debug.h"

#include "core/smp/test_holder.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

// Virtual time makes the waited ns a property of the cost table; the rest is fixed.
std::string without_ns(const std::string& line) {
  const size_t from = line.find("waiting ");
  const size_t to = line.find(" ns");
  if (from == std::string::npos || to == std::string::npos) return line;
  return line.substr(0, from + 8) + "N" + line.substr(to);
}

std::vector<std::string> log_without_ns() {
  std::vector<std::string> lines;
  for (const std::string& line : machine::kernel_log()) lines.push_back(without_ns(line));
  return lines;
}

Config debugging(const char* series = "merged", unsigned cpus = 3) {
  Config config = make_config(cpus, series);
  set_param(&config, Param::csdlock_debug, 1);
  set_param(&config, Param::idle_poll_percent, 0);
  return config;
}

// CPU 0 calls CPU 1, whose interrupts are off until CPU 2 lets it go after `ms`.
template <typename Call>
Outcome call_a_busy_cpu(const Config& config, unsigned ms, Call call) {
  name_symbol(note, "note");
  return run_with(config, "calm", 1, [ms, call] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    Holder holder;
    holder.hold(1);
    Thread releaser(
        [&holder, ms] {
          kernel::schedule_timeout_interruptible(ms);
          holder.release();
        },
        "releaser");
    releaser.start_on(2);
    Seen seen{};
    call(&seen);
    SD_EXPECT(runs_on(seen, 1) == 1);
    SD_EXPECT(!csd_lock_is_stuck());
    releaser.join();
  });
}

void single(Seen* seen) {
  smp_call_function_single(1, note, seen, true);
}

TEST(CsdDebug, SaysNothingWithinTheTimeout) {
  const Outcome outcome = call_a_busy_cpu(debugging(), 4900, single);
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
  EXPECT_TRUE(machine::kernel_log().empty()) << machine::kernel_log().front();
}

TEST(CsdDebug, SaysNothingWhenItIsOffOrTheTimeoutIsZero) {
  for (Param param : {Param::csdlock_debug, Param::csd_lock_timeout}) {
    Config config = debugging();
    set_param(&config, param, 0);
    EXPECT_FALSE(call_a_busy_cpu(config, 20000, single).failed);
    EXPECT_TRUE(machine::kernel_log().empty());
  }
}

TEST(CsdDebug, ComplainsAboutAnUnresponsiveCpuAndTellsWhenItAnswers) {
  for (const char* series : {"base", "posted", "merged"}) {
    const Outcome outcome = call_a_busy_cpu(debugging(series), 16000, single);
    EXPECT_FALSE(outcome.failed) << text_of(outcome);
    const std::vector<std::string> expected = {
        "smp: csd: Detected non-responsive CSD lock (#1) on CPU#0, waiting N ns for CPU#01 "
        "note(info).\n",
        "smp: \tcsd: CSD lock (#1) unresponsive.\n",
        "Task dump for CPU 1:\n",
        "task:holder\n",
        "smp: csd: Re-sending CSD lock (#1) IPI from CPU#00 to CPU#01\n",
        "CPU: 0 PID: 9 Comm: init\n",
        // Ten seconds later, and without a dump: CPU 1 has not flushed since.
        "smp: csd: Continued non-responsive CSD lock (#1) on CPU#0, waiting N ns for CPU#01 "
        "note(info).\n",
        "smp: \tcsd: CSD lock (#1) unresponsive.\n",
        "smp: csd: Re-sending CSD lock (#1) IPI from CPU#00 to CPU#01\n",
        "smp: csd: CSD lock (#1) got unstuck on CPU#00, CPU#01 released the lock.\n",
    };
    EXPECT_EQ(log_without_ns(), expected) << series;
  }
}

TEST(CsdDebug, IntervalsGrowWithEachComplaint) {
  EXPECT_FALSE(call_a_busy_cpu(debugging("merged", 4), 100000, single).failed);
  std::vector<uint64_t> seconds;
  for (const std::string& line : machine::kernel_log()) {
    const size_t at = line.find("waiting ");
    if (at != std::string::npos)
      seconds.push_back(std::stoull(line.substr(at + 8)) / 1'000'000'000);
  }
  // 5 s, then (messages + 1) * 5 s * (ilog2(4) / 2 + 1).
  EXPECT_EQ(seconds, (std::vector<uint64_t>{5, 25, 55, 95}));
}

// A CPU that executes another request, and one that executes this one.
TEST(CsdDebug, TellsWhatTheCpuIsExecuting) {
  for (const char* series : {"base", "merged"}) {
    name_symbol(note, "note");
    Config config = debugging(series);
    const Outcome outcome = run_with(config, "calm", 1, [] {
      struct Slow {
        unsigned running;
        unsigned go;
      } slow{};
      const auto wait = [](void* p) {
        auto* s = static_cast<Slow*>(p);
        smp_store_release(&s->running, 1u);
        smp_cond_load_acquire(&s->go, VAL != 0);
      };
      name_symbol(wait, "slow");
      kernel::set_cpus_allowed_cpu(kernel::current(), 0);
      Thread releaser([&slow] {
        kernel::schedule_timeout_interruptible(7000);
        smp_store_release(&slow.go, 1u);
      });
      call_single_data_t csd{};
      csd.func = wait;
      csd.info = &slow;
      SD_EXPECT(smp_call_function_single_async(1, &csd) == 0);
      releaser.start_on(2);
      while (!smp_load_acquire(&slow.running)) kernel::schedule_timeout_interruptible(1);
      Seen seen{};
      smp_call_function_single(1, note, &seen, true);
      releaser.join();
      // And now the request that is waited for.
      slow.running = slow.go = 0;
      Thread second([&slow] {
        kernel::schedule_timeout_interruptible(7000);
        smp_store_release(&slow.go, 1u);
      });
      second.start_on(2);
      smp_call_function_single(1, wait, &slow, true);
      second.join();
    });
    EXPECT_FALSE(outcome.failed) << text_of(outcome);
    std::vector<std::string> handling;
    for (const std::string& line : machine::kernel_log()) {
      if (line.find("handling") != std::string::npos) handling.push_back(line);
    }
    const std::vector<std::string> expected = {
        "smp: \tcsd: CSD lock (#1) handling prior slow(info) request.\n",
        "smp: \tcsd: CSD lock (#2) handling this request.\n"};
    EXPECT_EQ(handling, expected) << series;
  }
}

TEST(CsdDebug, PanicsWhenAskedTo) {
  Config config = debugging();
  set_param(&config, Param::panic_on_ipistall, 12000);
  EXPECT_FALSE(call_a_busy_cpu(config, 11000, single).failed);
  const Outcome outcome = call_a_busy_cpu(config, 30000, single);
  EXPECT_EQ(outcome.failure.id, "BUG");
}

// A multi-CPU call waits csd by csd, and P01 keeps each of these waits on its CPU.
TEST(CsdDebug, WorksForCallsToMany) {
  for (const char* series : {"base-6.17", "posted", "merged"}) {
    const auto call = [](Seen* seen) { on_each_cpu(note, seen, true); };
    const Outcome outcome = call_a_busy_cpu(debugging(series, 4), 6000, call);
    EXPECT_FALSE(outcome.failed) << text_of(outcome);
    ASSERT_FALSE(machine::kernel_log().empty());
    EXPECT_NE(machine::kernel_log().back().find("got unstuck"), std::string::npos);
  }
}

// The interrupt that is sent again makes up for one that was lost: a bug that the debugging hides.
TEST(CsdDebug, TheSecondInterruptHidesALostOne) {
  Config config = debugging("merged", 3);
  set_bug(&config, Bug::mask_ipi_misses_last);
  const auto body = [] { smp_call_function([](void*) {}, nullptr, true); };
  EXPECT_FALSE(run_with(config, "calm", 1, body).failed);
  set_param(&config, Param::csdlock_debug, 0);
  EXPECT_EQ(run_with(config, "calm", 1, body).failure.id, "hang");
}

// Compared without a sign: a clock that is behind the last complaint is told apart
// from a short wait.
TEST(CsdDebug, AClockThatGoesBackwardBlamesNobody) {
  EXPECT_EQ(csd_wait_look(100, 100, 149, 50), csd_look::early);
  EXPECT_EQ(csd_wait_look(100, 100, 150, 50), csd_look::early);
  EXPECT_EQ(csd_wait_look(100, 100, 151, 50), csd_look::complain);
  EXPECT_EQ(csd_wait_look(100, 100, 99, 50), csd_look::clock_went_backward);
  EXPECT_EQ(csd_wait_look(100, 400, 300, 50), csd_look::complain);
  EXPECT_EQ(csd_wait_look(100, 100, 99, 0), csd_look::early);
}

TEST(CsdDebug, NamesAsManyFunctionsAsThereAre) {
  const auto function = [](uintptr_t i) { return reinterpret_cast<smp_call_func_t>(0x1000 + i); };
  for (uintptr_t i = 0; i < 200; ++i) name_symbol(function(i), "one of many");
  EXPECT_STREQ(symbol_name(function(199)), "one of many");
  name_symbol(function(199), "the last");
  EXPECT_STREQ(symbol_name(function(199)), "the last");
  EXPECT_STREQ(symbol_name(function(200)), "func");
  EXPECT_STREQ(symbol_name(nullptr), "0x0");
}

}  // namespace
}  // namespace sd::smp
