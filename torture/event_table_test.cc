#include "torture/event_table.h"

#include <gtest/gtest.h>

#include "core/machine/events.h"
#include "core/machine/machine.h"
#include "core/machine/sd.h"
#include "core/smp/csd.h"
#include "core/smp/trace.h"
#include "torture/runner.h"
#include "torture/telling_events.h"
#include "torture/test_golden.h"

namespace sd::torture {
namespace {

using engine::Event;
namespace memory_event = engine::event;
namespace machine_event = machine::event;
namespace tp = smp::tp;

alignas(64) char csd_memory[64];
alignas(64) char mask_memory[8];

EventNames test_names() {
  EventNames names;
  names.address = [](const volatile void* p) -> std::string {
    const auto* at = static_cast<const volatile char*>(p);
    if (at >= csd_memory && at < csd_memory + sizeof(csd_memory)) {
      const auto offset = at - csd_memory;
      return offset == 0 ? "cpu2.csd_data" : "cpu2.csd_data+" + std::to_string(offset);
    }
    if (at == mask_memory) return "cpu_online_mask";
    return "memory of the program";
  };
  names.task = [](unsigned task) { return "invoker/" + std::to_string(task); };
  names.vector = [](unsigned vector) { return std::string(machine::vector_name(vector)); };
  return names;
}

// A short story of one call, in the manner of a machine.
class Story {
 public:
  Story() { const Runner registers_all_formats{Scenario()}; }

  Story& on(unsigned cpu, unsigned irq_depth = 0) {
    cpu_ = cpu;
    irq_depth_ = irq_depth;
    return *this;
  }
  Story& add(engine::EventId id, const volatile void* obj = nullptr, uint64_t a = 0, uint64_t b = 0,
             const char* function = "") {
    Event event;
    event.step = ++step_;
    event.time_ns = step_ * 1500;
    event.cpu = static_cast<uint16_t>(cpu_);
    event.task = static_cast<uint16_t>(cpu_);
    event.irq_depth = static_cast<uint8_t>(irq_depth_);
    event.id = id;
    event.obj = obj;
    event.a = a;
    event.b = b;
    event.function = function;
    events.push_back(event);
    return *this;
  }

  std::vector<Event> events;

 private:
  unsigned cpu_ = 0;
  unsigned irq_depth_ = 0;
  uint64_t step_ = 100;
};

Story one_call() {
  Story story;
  const char* flags = csd_memory + 8;
  const uint64_t locked = smp::CSD_TYPE_SYNC | smp::CSD_FLAG_LOCK;
  story.on(2).add(tp::call_begin, nullptr, 0, 1, "smp_call_function_single");
  story.add(memory_event::load, mask_memory, 15, 8, "smp_call_function_single");
  story.add(tp::csd_locked, csd_memory, 0, 0, "csd_lock");
  story.add(memory_event::store, flags, locked, 4, "csd_lock");
  story.add(memory_event::fence, nullptr, sd_wmb, 0, "csd_lock");
  story.add(tp::csd_queue_cpu, csd_memory, 0, smp::CSD_TYPE_SYNC, "call_queue_add");
  story.add(machine_event::ipi_send, nullptr, 0, sd_vec_call_function_single, "call_queue_add");
  story.on(0, 1).add(machine_event::irq_enter, nullptr, sd_vec_call_function_single);
  story.add(tp::func_entry, csd_memory, 0, 0, "csd_do_func");
  story.on(2).add(memory_event::load, flags, locked, 4, "csd_lock_wait");
  story.on(0, 1).add(memory_event::store, flags, smp::CSD_TYPE_SYNC, 4, "csd_unlock");
  story.add(machine_event::irq_exit, nullptr, sd_vec_call_function_single);
  story.on(1).add(machine_event::sched_switch, nullptr, 1, 7);
  story.on(2).add(tp::call_end, nullptr, static_cast<uint32_t>(-6), 0, "smp_call_function_single");
  return story;
}

std::string rendered(const std::vector<Event>& events, unsigned cpu) {
  const EventWords words(test_names(), events);
  EventTable table(words, events, cpu);
  return table.titles() + table.rows(events) + table.marker("^ S-I1");
}

TEST(EventTable, ShowsAColumnPerCpu) {
  expect_golden(rendered(one_call().events, 2), "event_table.txt");
}

TEST(EventTable, FoldsMoreCpusThanColumnsIntoTheLast) {
  Story story;
  for (unsigned cpu = 0; cpu < 12; cpu++) {
    // The busiest seven have columns of their own.
    for (unsigned i = 0; i < (cpu % 2 == 0 ? 2u : 1u); i++)
      story.on(cpu).add(machine_event::irqs_off);
  }
  expect_golden(rendered(story.events, 11), "event_table_folded.txt");
}

TEST(EventTable, HasNoColumnForCpusWithoutEvents) {
  Story story;
  story.on(300).add(machine_event::irqs_off);
  const std::string text = rendered(story.events, 300);
  EXPECT_NE(text.find("cpu300\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("cpu0"), std::string::npos) << text;
}

TEST(EventWords, PointersAreNamesAndNeverNumbers) {
  Story story;
  story.add(memory_event::store, mask_memory, reinterpret_cast<uint64_t>(csd_memory), 8);
  story.add(memory_event::store, mask_memory, 0x7f0000001000, 8);
  story.add(memory_event::store, mask_memory, 12, 8);
  const EventWords words(test_names(), story.events);
  EXPECT_EQ(words.text(story.events[0]), "store cpu_online_mask = &cpu2.csd_data");
  EXPECT_EQ(words.text(story.events[1]), "store cpu_online_mask = a pointer");
  EXPECT_EQ(words.text(story.events[2]), "store cpu_online_mask = 12");
}

TEST(EventWords, CsdsOnStacksAreNumbered) {
  Story story;
  alignas(32) char one[32];
  alignas(32) char two[32];
  story.add(tp::csd_locked, one, 3).add(tp::csd_locked, two, 3);
  story.add(memory_event::load, two + 8, smp::CSD_TYPE_SYNC, 4)
      .add(memory_event::load, two + 16, 1, 8);
  const EventWords words(test_names(), story.events);
  EXPECT_EQ(words.text(story.events[0]), "csd_locked local csd#1 cpu3");
  EXPECT_EQ(words.text(story.events[1]), "csd_locked local csd#2 cpu3");
  EXPECT_EQ(words.text(story.events[2]), "load local csd#2+8 is SYNC");
  EXPECT_EQ(words.text(story.events[3]), "load is 1");
}

TEST(TellingEvents, LeaveOutFencesAndLoadsButThoseOfFlagsQueuesAndMasks) {
  Story story = one_call();
  story.on(2).add(memory_event::load, csd_memory + 24, 1, 8, "elsewhere");
  const EventWords words(test_names(), story.events);
  const TellingEvents telling = telling_events(story.events, 100, words, {});
  EXPECT_EQ(telling.last.size(), story.events.size() - 2);
  EXPECT_EQ(telling.left_out, 2u);
  EXPECT_TRUE(telling.before.empty());
}

TEST(TellingEvents, LeaveOutTheIdleLoopUnlessTheFailureIsThere) {
  Story story;
  story.on(1).add(machine_event::irqs_off, nullptr, 0, 0, "do_idle");
  story.on(1).add(machine_event::idle_halt, nullptr, 0, 0, "cpuidle_idle_call");
  const EventWords words(test_names(), story.events);
  engine::Failure failure;
  failure.function = "csd_lock_wait";
  EXPECT_EQ(telling_events(story.events, 9, words, failure).last.size(), 1u);
  failure.function = "cpuidle_idle_call";
  EXPECT_EQ(telling_events(story.events, 9, words, failure).last.size(), 2u);
}

TEST(TellingEvents, ShowWhatTheFailingTaskDidBefore) {
  Story story;
  story.on(3);
  for (int i = 0; i < 6; i++) story.add(machine_event::irqs_on);
  story.on(1);
  for (int i = 0; i < 50; i++) story.add(machine_event::irqs_off);
  const EventWords words(test_names(), story.events);
  engine::Failure failure;
  failure.task = "invoker/3";
  const TellingEvents telling = telling_events(story.events, 40, words, failure);
  EXPECT_EQ(telling.last.size(), 40u);
  ASSERT_EQ(telling.before.size(), 4u);
  EXPECT_EQ(telling.before.front().step, story.events[2].step);
}

}  // namespace
}  // namespace sd::torture
