#include "torture/scf/view.h"

#include <gtest/gtest.h>

#include "torture/scf/test_run.h"

namespace sd::scf {
namespace {

// Runs fn on a machine of three CPUs with the given stack and checks that the execution is clean.
void on_machine(void (*fn)(void*), void* arg = nullptr, unsigned boot_cpus = 0) {
  testing::Scenario scenario;
  scenario.config.cpus = 3;
  scenario.config.boot_cpus = boot_cpus;
  scenario.strategy = "calm";
  const testing::Result result = testing::run_entry(scenario, 1, fn, arg);
  EXPECT_FALSE(result.outcome.failed) << result.text();
}

TEST(ViewTest, WithoutHotplugAllIsCertain) {
  Fate fates[3];
  on_machine(
      [](void* p) {
        View view;
        view_begin(&view, false);
        for (unsigned cpu = 0; cpu < 3; ++cpu) static_cast<Fate*>(p)[cpu] = view_fate(&view, cpu);
      },
      fates, 2);
  EXPECT_EQ(fates[0], Fate::always);
  EXPECT_EQ(fates[1], Fate::always);
  EXPECT_EQ(fates[2], Fate::never);
}

TEST(ViewTest, ACpuThatCameOrWentIsUncertainAndTheOthersAreNot) {
  Fate fates[3];
  on_machine(
      [](void* p) {
        View view;
        view_begin(&view, false);
        scf_hotplug(1, false);
        for (unsigned cpu = 0; cpu < 3; ++cpu) static_cast<Fate*>(p)[cpu] = view_fate(&view, cpu);
      },
      fates);
  EXPECT_EQ(fates[0], Fate::always);
  EXPECT_EQ(fates[1], Fate::maybe);
  EXPECT_EQ(fates[2], Fate::always);
  on_machine(
      [](void* p) {
        View view;
        view_begin(&view, false);
        scf_hotplug(2, true);
        for (unsigned cpu = 0; cpu < 3; ++cpu) static_cast<Fate*>(p)[cpu] = view_fate(&view, cpu);
      },
      fates, 2);
  EXPECT_EQ(fates[1], Fate::always);
  EXPECT_EQ(fates[2], Fate::maybe);
}

TEST(ViewTest, ACpuThatWentAndCameBackIsUncertain) {
  Fate fate;
  on_machine(
      [](void* p) {
        View view;
        view_begin(&view, false);
        scf_hotplug(1, false);
        scf_hotplug(1, true);
        *static_cast<Fate*>(p) = view_fate(&view, 1);
      },
      &fate);
  EXPECT_EQ(fate, Fate::maybe);
}

TEST(ViewTest, WhatHappenedBeforeDoesNotMatter) {
  Fate fates[2];
  on_machine(
      [](void* p) {
        scf_hotplug(1, false);
        View view;
        view_begin(&view, false);
        static_cast<Fate*>(p)[0] = view_fate(&view, 1);
        scf_hotplug(1, true);
        view_begin(&view, false);
        static_cast<Fate*>(p)[1] = view_fate(&view, 1);
      },
      fates);
  EXPECT_EQ(fates[0], Fate::never);
  EXPECT_EQ(fates[1], Fate::always);
}

TEST(ViewTest, UnderTheLockAChangeIsSeen) {
  unsigned changed[2];
  on_machine(
      [](void* p) {
        auto* out = static_cast<unsigned*>(p);
        View view;
        view_begin(&view, true);
        out[0] = view_changed(&view);
        scf_hotplug(2, false);
        out[1] = view_changed(&view);
      },
      changed);
  EXPECT_EQ(changed[0], 3u);
  EXPECT_EQ(changed[1], 2u);
}

}  // namespace
}  // namespace sd::scf
