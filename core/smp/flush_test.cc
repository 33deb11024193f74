// The order in which a flush runs what it has taken, and what it warns of.
#include "core/smp/flush.h"

#include <cerrno>

#include "core/smp/irq_work.h"
#include "core/smp/queue.h"
#include "core/smp/test_holder.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

// Entries that note when they ran. In memory of the test, which outlives the execution.
struct Log {
  std::string order;

  struct Entry {
    call_single_data_t csd{};
    Log* log = nullptr;
    char name = 0;
  };
  Entry entries[8];
  irq_work work{};
};
Log* the_log;

void note_entry(void* info) {
  auto* entry = static_cast<Log::Entry*>(info);
  SD_EXPECT(irqs_disabled());
  entry->log->order += entry->name;
}

void queue(Log* log, unsigned at, char name, unsigned type) {
  Log::Entry& entry = log->entries[at];
  entry.log = log;
  entry.name = name;
  entry.csd.node.u_flags = CSD_FLAG_LOCK | type;
  entry.csd.func = note_entry;
  entry.csd.info = &entry;
  kernel::preempt_disable();
  __smp_call_single_queue(1, &entry.csd.node.llist);
  kernel::preempt_enable();
}

TEST(Flush, SyncRunsFirstAndEachKindInOrder) {
  Log log;
  the_log = &log;
  expect_clean_calm(make_config(2), [&log] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    Holder holder;
    holder.hold(1);
    queue(&log, 0, 'a', CSD_TYPE_ASYNC);
    queue(&log, 1, 'S', CSD_TYPE_SYNC);
    queue(&log, 2, 'b', CSD_TYPE_ASYNC);
    init_irq_work(&log.work, [](irq_work*) { the_log->order += 'w'; });
    SD_EXPECT(irq_work_queue_on(&log.work, 1));
    queue(&log, 3, 'T', CSD_TYPE_SYNC);
    queue(&log, 4, 'c', CSD_TYPE_ASYNC);
    holder.release();
    smp_call_function_single(
        1, [](void*) {}, nullptr, true);
  });
  EXPECT_EQ(log.order, "STabwc");
  for (const Log::Entry& entry : log.entries) EXPECT_EQ(entry.csd.node.u_flags, 0u);
}

TEST(Flush, AnUnknownTypeIsDropped) {
  Log log;
  expect_clean_calm(make_config(2), [&log] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    Holder holder;
    holder.hold(1);
    queue(&log, 0, 'a', CSD_TYPE_ASYNC);
    queue(&log, 1, 'x', 0x40);
    queue(&log, 2, 'b', CSD_TYPE_ASYNC);
    holder.release();
    smp_call_function_single(
        1, [](void*) {}, nullptr, true);
  });
  EXPECT_EQ(log.order, "ab");
}

// What a callback queues is not for the flush that is running, but is not lost either.
TEST(Flush, WhatACallbackQueuesRunsInTheNextFlush) {
  expect_clean(make_config(3), 100, [] {
    struct Again {
      call_single_data_t csd;
      unsigned times;
    } again{};
    again.csd.func = [](void* p) {
      auto* a = static_cast<Again*>(p);
      const unsigned times = ++a->times;
      const unsigned other = kernel::smp_processor_id() == 1 ? 2 : 1;
      if (times < 5) smp_call_function_single_async(static_cast<int>(other), &a->csd);
    };
    again.csd.info = &again;
    smp_call_function_single_async(1, &again.csd);
    while (data_race_read(&again.times) < 5) kernel::schedule_timeout_interruptible(1);
  });
}

// A queue of an offline CPU that is not empty: only a bug gets there.
TEST(Flush, WorkLeftForAnOfflineCpuWarnsOnceAndIsRun) {
  Config config = make_config(2);
  set_bug(&config, Bug::no_online_check);
  config.warnings_expected = true;
  name_symbol(note, "note");
  Seen seen{};
  const Outcome outcome = run_with(config, "calm", 1, [&seen] {
    SD_EXPECT(sd_cpu_down(1, __func__) == 0);
    SD_EXPECT(smp_call_function_single(1, note, &seen, false) == 0);
    // In the place of a late interrupt.
    SD_EXPECT(runs(seen) == 0);
    SD_EXPECT(sd_cpu_up(1, __func__) == 0);
    smp_call_function_single(
        1, [](void*) {}, nullptr, true);
    SD_EXPECT(runs(seen) == 1);
  });
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
}

TEST(Flush, AWarningOnAnOfflineCpuNamesItsEntries) {
  const Config config = make_config(2);
  name_symbol(note, "note");
  Seen seen{};
  call_single_data_t csd{};
  const Outcome outcome = run_with(config, "calm", 1, [&] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    csd.func = note;
    csd.info = &seen;
    csd.node.u_flags = CSD_FLAG_LOCK;
    SD_EXPECT(sd_cpu_down(0, __func__) == 0);
    // As nothing should: on a CPU whose bit is clear, a queue that is not empty.
    const unsigned cpu = kernel::smp_processor_id();
    sd_cpu_online_bits()[0] = 0;
    kernel::local_irq_disable();
    __smp_call_single_queue(cpu, &csd.node.llist);
    __flush_smp_call_function_queue(true);
  });
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failure.message, "WARNING: IPI on offline CPU 1\n");
  ASSERT_EQ(machine::kernel_log().size(), 2u);
  EXPECT_EQ(machine::kernel_log().front(), "smp: IPI callback note sent to offline CPU\n");
}

}  // namespace
}  // namespace sd::smp
