// --check-determinism sees whatever depends on more than the choices: each kind of
// dependence is planted in a worker, as an observer that folds what it should not look at
// into the hash of the execution.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <vector>

#include "core/bugs/bugs.h"
#include "core/engine/choice_log.h"
#include "core/engine/strategy.h"
#include "core/engine/trace.h"
#include "core/machine/machine.h"
#include "torture/disarranged.h"
#include "torture/runner.h"
#include "torture/wire.h"
#include "torture/worker.h"

namespace sd::torture {
namespace {

uint64_t bits_of(const volatile void* p) {
  return reinterpret_cast<uintptr_t>(p);
}

struct Plant {
  const char* name;
  uint64_t (*look)(const engine::Event& event);
};

void PrintTo(const Plant& plant, std::ostream* out) {
  *out << plant.name;
}

uint64_t at_nothing(const engine::Event&) {
  return 0;
}
uint64_t at_an_address(const engine::Event& event) {
  return bits_of(event.obj);
}
uint64_t at_the_order_of_addresses(const engine::Event& event) {
  static uint64_t before = 0;
  const bool ascending = bits_of(event.obj) > before;
  before = bits_of(event.obj);
  return ascending ? 1 : 0;
}
uint64_t at_the_order_of_tasks(const engine::Event&) {
  return sd_idle_task(0) < sd_idle_task(1) ? 1 : 0;
}
uint64_t at_the_stack(const engine::Event&) {
  return bits_of(__builtin_frame_address(0));
}
uint64_t at_the_environment(const engine::Event&) {
  return std::getenv("SHOOTDOWN_DISARRANGED") ? 1 : 0;
}
class Planted final : public engine::Observer {
 public:
  explicit Planted(const Plant& plant) : plant_(plant) {}
  const char* name() const override { return "planted"; }
  std::vector<engine::EventId> interests() const override { return {engine::event::alloc}; }
  void on_begin() override {}
  void on_event(const engine::Event& event) override { machine::trace().mix(plant_.look(event)); }

 private:
  Plant plant_;
};

// What a worker finds in a few executions run twice.
std::vector<Finding> findings_with(const Plant& plant) {
  const Scenario scenario;
  const Capture capture;
  const auto log = engine::ChoiceLog::in_memory();
  const auto shared = std::make_unique<SharedCounters>();
  const auto page = std::make_unique<WorkerPage>();
  shared->limit = 5;
  WorkerTask task;
  task.scenario = &scenario;
  task.seed = 1;
  task.check_determinism = true;
  task.shared = shared.get();
  task.page = page.get();
  task.log = log.get();
  task.capture = &capture;
  const ChildResult result = run_in_child(
      [&](const std::function<void(const std::string&)>& send) {
        int ends[2];
        if (::pipe(ends) != 0) std::abort();
        task.pipe = ends[1];
        Planted planted(plant);
        machine::trace().attach(&planted);
        run_worker(task);
        ::close(ends[1]);
        std::string bytes(1 << 16, '\0');
        bytes.resize(
            static_cast<size_t>(std::max<ssize_t>(::read(ends[0], bytes.data(), bytes.size()), 0)));
        send(bytes);
      },
      [n = uint64_t{0}]() mutable { return ++n; });
  EXPECT_TRUE(result.ending.ok()) << result.standard_error;
  std::vector<Finding> findings;
  std::string bytes = result.output;
  while (auto finding = decode(&bytes)) findings.push_back(std::move(*finding));
  return findings;
}

TEST(Disarranged, SecondRunsAreTheSame) {
  EXPECT_TRUE(findings_with({"nothing", at_nothing}).empty());
}

class Dependence : public testing::TestWithParam<Plant> {};

TEST_P(Dependence, IsReported) {
  const std::vector<Finding> findings = findings_with(GetParam());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].failure.kind, engine::FailureKind::harness);
  EXPECT_EQ(findings[0].failure.id, "determinism");
}

INSTANTIATE_TEST_SUITE_P(On, Dependence,
                         testing::Values(Plant{"AnAddress", at_an_address},
                                         Plant{"TheOrderOfAddresses", at_the_order_of_addresses},
                                         Plant{"TheOrderOfTasks", at_the_order_of_tasks},
                                         Plant{"TheStack", at_the_stack},
                                         Plant{"TheEnvironment", at_the_environment}),
                         [](const auto& info) { return std::string(info.param.name); });

// A sanitizer has stacks and blocks of its own making.
#if !defined(SD_ASAN) && !defined(SD_TSAN)
uint64_t at_garbage_on_the_stack(const engine::Event&) {
  constexpr size_t kBelow = 2000;  // of what is in use
  return static_cast<const volatile unsigned char*>(__builtin_frame_address(0))[-kBelow];
}
uint64_t at_fresh_memory(const engine::Event&) {
  constexpr size_t kSize = 400;
  const std::unique_ptr<volatile unsigned char[]> fresh(new unsigned char[kSize]);
  return fresh[kSize / 2];
}

INSTANTIATE_TEST_SUITE_P(OnWhatWasThere, Dependence,
                         testing::Values(Plant{"GarbageOnTheStack", at_garbage_on_the_stack},
                                         Plant{"FreshMemory", at_fresh_memory}),
                         [](const auto& info) { return std::string(info.param.name); });
#endif

// Allocations that lie in the opposite order are found, and checked, all the same.
TEST(Disarranged, AFailureIsTheSame) {
  Scenario scenario;
  scenario.machine.bugs = bugs::bit(bugs::Bug::canary);
  const Runner runner(scenario);
  const auto strategy = engine::make_strategy(scenario.strategy, nullptr);
  for (uint64_t seed = 1; seed < 20; seed++) {
    const machine::Outcome first = runner.run(*strategy, seed).outcome;
    const Disarranged otherwise;
    const machine::Outcome second = runner.run(*strategy, seed).outcome;
    EXPECT_EQ(first.failed, second.failed);
    EXPECT_EQ(first.failure.signature(), second.failure.signature());
    EXPECT_EQ(first.failure.message, second.failure.message);
    EXPECT_EQ(first.trace_hash, second.trace_hash);
  }
}

}  // namespace
}  // namespace sd::torture
