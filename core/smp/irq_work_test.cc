#include "core/smp/irq_work.h"

#include "core/smp/test_holder.h"

namespace sd::smp {
namespace {

using namespace sd::smp::testing;

struct Counted {
  irq_work work;
  kernel::atomic_t runs;
  kernel::atomic_t cpu;
};

void count(irq_work* work) {
  auto* counted = reinterpret_cast<Counted*>(work);
  SD_EXPECT(irqs_disabled());
  kernel::atomic_inc(&counted->runs);
  kernel::atomic_set(&counted->cpu, static_cast<int>(kernel::smp_processor_id()));
}

TEST(IrqWork, RunsOnTheOwnCpuAtOnce) {
  expect_clean(make_config(2), 100, [] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 1);
    Counted counted{};
    init_irq_work(&counted.work, count);
    SD_EXPECT(irq_work_queue(&counted.work));
    irq_work_sync(&counted.work);
    SD_EXPECT(kernel::atomic_read(&counted.runs) == 1 && kernel::atomic_read(&counted.cpu) == 1);
  });
}

TEST(IrqWork, RunsOnAnotherCpuThroughItsCallQueue) {
  expect_clean(make_config(3), 200, [] {
    Counted counted{};
    init_irq_work(&counted.work, count);
    for (unsigned cpu = 0; cpu < 3; ++cpu) {
      SD_EXPECT(irq_work_queue_on(&counted.work, cpu));
      irq_work_sync(&counted.work);
      SD_EXPECT(kernel::atomic_read(&counted.cpu) == static_cast<int>(cpu));
    }
    SD_EXPECT(kernel::atomic_read(&counted.runs) == 3);
  });
}

TEST(IrqWork, IsQueuedOnlyOnceWhilePending) {
  expect_clean_calm(make_config(2), [] {
    kernel::set_cpus_allowed_cpu(kernel::current(), 0);
    Counted counted{};
    init_irq_work(&counted.work, count);
    kernel::local_irq_disable();
    SD_EXPECT(irq_work_queue(&counted.work));
    SD_EXPECT(!irq_work_queue(&counted.work));
    SD_EXPECT(!irq_work_queue_on(&counted.work, 1));
    SD_EXPECT(kernel::atomic_read(&counted.runs) == 0);
    kernel::local_irq_enable();
    irq_work_sync(&counted.work);
    SD_EXPECT(kernel::atomic_read(&counted.runs) == 1);
  });
}

TEST(IrqWork, MayBeQueuedAgainByItsOwnFunction) {
  expect_clean(make_config(2), 100, [] {
    Counted counted{};
    init_irq_work(&counted.work, [](irq_work* work) {
      auto* c = reinterpret_cast<Counted*>(work);
      if (kernel::atomic_inc_return(&c->runs) < 4) SD_EXPECT(irq_work_queue(work));
    });
    SD_EXPECT(irq_work_queue_on(&counted.work, 1));
    while (kernel::atomic_read(&counted.runs) < 4) kernel::schedule_timeout_interruptible(1);
    irq_work_sync(&counted.work);
  });
}

TEST(IrqWork, TheLocalListIsRunNewestFirst) {
  std::string order;
  static std::string* the_order;
  the_order = &order;
  expect_clean_calm(make_config(1), [] {
    irq_work a, b;
    init_irq_work(&a, [](irq_work*) { *the_order += 'a'; });
    init_irq_work(&b, [](irq_work*) { *the_order += 'b'; });
    kernel::local_irq_disable();
    irq_work_queue(&a);
    irq_work_queue(&b);
    kernel::local_irq_enable();
    irq_work_sync(&a);
    irq_work_sync(&b);
  });
  EXPECT_EQ(order, "ba");
}

TEST(IrqWork, LazyWorkRunsBehindTheOthers) {
  std::string order;
  static std::string* the_order;
  the_order = &order;
  expect_clean_calm(make_config(1), [] {
    irq_work lazy, eager;
    init_irq_work(&lazy, [](irq_work*) { *the_order += 'l'; });
    init_irq_work(&eager, [](irq_work*) { *the_order += 'e'; });
    lazy.node.u_flags = IRQ_WORK_LAZY;
    kernel::local_irq_disable();
    irq_work_queue(&lazy);
    irq_work_queue(&eager);
    kernel::local_irq_enable();
    irq_work_sync(&lazy);
    irq_work_sync(&eager);
  });
  EXPECT_EQ(order, "el");
}

TEST(IrqWork, QueueingToAnOfflineCpuOnlyWarns) {
  Config config = make_config(2);
  config.warnings_expected = true;
  Counted counted{};
  const Outcome outcome = run_with(config, "calm", 1, [&counted] {
    SD_EXPECT(sd_cpu_down(1, __func__) == 0);
    init_irq_work(&counted.work, count);
    SD_EXPECT(irq_work_queue_on(&counted.work, 1));
    SD_EXPECT(sd_cpu_up(1, __func__) == 0);
    smp_call_function_single(
        1, [](void*) {}, nullptr, true);
    SD_EXPECT(kernel::atomic_read(&counted.runs) == 1);
  });
  EXPECT_FALSE(outcome.failed) << text_of(outcome);
  ASSERT_FALSE(machine::kernel_log().empty());
  EXPECT_EQ(machine::kernel_log().front(), "WARNING: !cpu_online(cpu)");
}

// What a dying CPU has still to do for itself is done by smpcfd_dying_cpu().
TEST(IrqWork, NothingIsLeftOnACpuThatGoesOffline) {
  expect_clean(make_config(3), 300, [] {
    Thread plugger([] { plug_and_unplug(1); });
    Counted counted[3]{};
    for (Counted& c : counted) init_irq_work(&c.work, count);
    plugger.start();
    int queued = 0;
    for (int i = 0; i < 6; ++i) {
      queued += irq_work_queue(&counted[i % 3].work);
      kernel::cond_resched();
    }
    for (Counted& c : counted) irq_work_sync(&c.work);
    int runs = 0;
    for (Counted& c : counted) runs += kernel::atomic_read(&c.runs);
    SD_EXPECT(runs == queued);
    plugger.join();
  });
}

}  // namespace
}  // namespace sd::smp
