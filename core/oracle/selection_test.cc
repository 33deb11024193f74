#include "core/oracle/selection.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using SelectionScript = Script<Selection>;

// ---- S-I3

TEST(Selection, SI3RefusesACpuThatWasOnline) {
  SelectionScript s;
  const call_args args = single_args(1, true);
  s.on(0, 10).begin(args).pin().unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I3");
}

TEST(Selection, SI3RefusesItsOwnCpu) {
  SelectionScript s;
  s.view.set_online(0, false);
  s.start();
  call_single_data_t csd{};
  const call_args args = async_args(0, &csd);
  s.on(0, 10).begin(args).pin().unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I3");
}

TEST(Selection, SI3MayRefuseWhatWasOfflineAtSomeInstant) {
  const call_args args = single_args(1, true);
  SelectionScript before, during, goes, range, negative;
  before.on(2, 12).go_offline(1).on(0, 10).begin(args).pin().unpin().end(-ENXIO);
  EXPECT_EQ(before.id(), "");
  during.on(2, 12)
      .go_offline(1)
      .on(0, 10)
      .begin(args)
      .pin()
      .on(2, 12)
      .go_online(1)
      .on(0, 10)
      .unpin()
      .end(-ENXIO);
  EXPECT_EQ(during.id(), "");
  goes.on(0, 10).begin(args).pin().on(2, 12).go_offline(1).on(0, 10).unpin().end(-ENXIO);
  EXPECT_EQ(goes.id(), "");
  const call_args far = single_args(4, true), none = single_args(-1, true);
  range.on(0, 10).begin(far).pin().unpin().end(-ENXIO);
  negative.on(0, 10).begin(none).pin().unpin().end(-ENXIO);
  EXPECT_EQ(range.id() + negative.id(), "");
}

TEST(Selection, SI3WhatHappensOutsideOfTheSectionIsNoExcuse) {
  SelectionScript s;
  const call_args args = single_args(1, true);
  s.on(2, 12).go_offline(1).go_online(1).on(0, 10).begin(args).pin().unpin().on(2, 12).go_offline(
      1);
  s.on(0, 10).end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I3");
}

TEST(Selection, SI3OtherResultsAndCallsWithoutSectionAreNotJudged) {
  SelectionScript s;
  call_single_data_t csd{};
  const call_args args = single_args(1, true), async = async_args(1, &csd);
  s.on(0, 10)
      .begin(args)
      .end(-ENXIO)
      .begin(async)
      .pin()
      .unpin()
      .end(-EBUSY)
      .begin(args)
      .pin()
      .unpin()
      .end(0);
  EXPECT_EQ(s.id(), "");
}

TEST(Selection, SI3ForbiddenContextIsNotJudged) {
  SelectionScript s;
  s.view.task_context = false;
  const call_args args = single_args(1, true);
  s.on(0, 10, 1).begin(args).pin().unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "");
}

// ---- S-I5

struct Many {
  call_single_data_t csd[4]{};
  smp::cpumask mask;
  call_args args;

  explicit Many(std::initializer_list<unsigned> cpus = {0, 1, 2, 3})
      : mask(mask_of(cpus)), args(many_args(&mask, false)) {}
  void queue(SelectionScript& s, std::initializer_list<unsigned> targets) {
    for (const unsigned cpu : targets) s.queue(&csd[cpu], cpu, kSync);
  }
  // set_bit or clear_bit by somebody else, as the machine shows it.
  void change(SelectionScript& s, unsigned cpu, bool in) {
    const uint64_t before = mask.bits[0];
    mask.bits[0] = in ? before | 1ull << cpu : before & ~(1ull << cpu);
    s.ev(eev::rmw, &mask.bits[0], before, mask.bits[0]);
  }
};

TEST(Selection, SI5LeavesOutACpu) {
  SelectionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 3});
  s.unpin().end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5LeavesOutACpuOfTheOnlineMask) {
  SelectionScript s;
  Many many;
  many.args.mask = static_cast<const smp::cpumask*>(const_cast<const void*>(s.view.online_mask()));
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 3});
  s.unpin().end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5QueuesToItself) {
  SelectionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {0, 1, 2, 3});
  s.unpin().end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5QueuesToACpuThatIsNotInTheMask) {
  SelectionScript s;
  Many many({1, 2});
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 2, 3});
  s.unpin().end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5QueuesToACpuThatWasNeverOnline) {
  SelectionScript s;
  Many many;
  s.on(2, 12).go_offline(3).on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 2, 3});
  s.unpin().end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5ExactlyTheOnlineCpusOfTheMask) {
  SelectionScript s;
  Many many({0, 1, 3});
  s.on(2, 12).go_offline(3).on(0, 10).begin(many.args).pin();
  many.queue(s, {1});
  s.unpin().end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Selection, SI5CpuThatComesUpDuringTheCallMayBeCalledOrNot) {
  for (const bool called : {false, true}) {
    for (const bool online_mask : {false, true}) {
      SelectionScript s;
      Many many;
      if (online_mask) {
        many.args.mask =
            static_cast<const smp::cpumask*>(const_cast<const void*>(s.view.online_mask()));
      }
      s.on(2, 12).go_offline(3).on(0, 10).begin(many.args).pin().on(2, 12).go_online(3).on(0, 10);
      many.queue(s, {1, 2});
      if (called) many.queue(s, {3});
      s.unpin().end();
      EXPECT_EQ(s.id(), "") << s.failure().message;
    }
  }
}

TEST(Selection, SI5CpuThatWasInTheMaskForAWhileMayBeCalledOrNot) {
  for (const bool called : {false, true}) {
    for (const bool starts_in : {false, true}) {
      SelectionScript s;
      Many many({1, 2});
      if (starts_in) many.mask.bits[0] |= 1u << 3;
      s.on(0, 10).begin(many.args).pin().on(2, 12);
      many.change(s, 3, !starts_in);  // there and back: both ends look the same
      many.change(s, 3, starts_in);
      s.on(0, 10);
      many.queue(s, {1, 2});
      if (called) many.queue(s, {3});
      s.unpin().end();
      EXPECT_EQ(s.id(), "") << s.failure().message;
    }
  }
}

TEST(Selection, SI5ActiveMaskIsWatchedToo) {
  SelectionScript s;
  Many many;
  s.view.active_words = mask_of({1, 2, 3});
  many.args.mask = &s.view.active_words;
  s.on(0, 10)
      .begin(many.args)
      .pin()
      .on(2, 12)
      .ev(mev::cpu_active, nullptr, 3, 0)
      .ev(mev::cpu_active, nullptr, 3, 1);
  s.on(0, 10);
  many.queue(s, {1, 2});
  s.unpin().end();
  EXPECT_EQ(s.id(), "");
}

TEST(Selection, SI5ChangesAfterTheSectionDoNotMatter) {
  SelectionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1, 2});
  s.unpin().on(2, 12);
  many.change(s, 3, false);
  s.on(0, 10).end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5ConditionDecides) {
  SelectionScript s;
  Many many;
  many.args.cond = [](int, void*) { return true; };
  s.view.depth = 1;
  s.on(0, 10).begin(many.args).pin();
  s.ev(tp::cond_result, nullptr, 1, 1)
      .ev(tp::cond_result, nullptr, 2, 0)
      .ev(tp::cond_result, nullptr, 3, 1);
  many.queue(s, {1, 3});
  s.unpin().end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Selection, SI5QueuesThoughTheConditionFailed) {
  SelectionScript s;
  Many many({1});
  many.args.cond = [](int, void*) { return true; };
  s.view.depth = 1;
  s.on(0, 10).begin(many.args).pin().ev(tp::cond_result, nullptr, 1, 0);
  many.queue(s, {1});
  s.unpin().end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5NeverAsksACandidate) {
  SelectionScript s;
  Many many({1});
  many.args.cond = [](int, void*) { return true; };
  s.on(0, 10).begin(many.args).pin().unpin().end();
  EXPECT_EQ(s.id(), "S-I5");
}

TEST(Selection, SI5ACallFromWithinTheConditionIsNotItsOwn) {
  SelectionScript s;
  Many many({1});
  call_single_data_t csd{};
  const call_args inner = async_args(2, &csd);
  many.args.cond = [](int, void*) { return true; };
  s.view.depth = 1;
  s.on(0, 10).begin(many.args).pin();
  s.begin(inner).pin().queue(&csd, 2, kAsync).unpin().end();
  s.ev(tp::cond_result, nullptr, 1, 1);
  many.queue(s, {1});
  s.unpin().end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Selection, SI5IrqWorkQueuedMeanwhileIsNoTarget) {
  SelectionScript s;
  Many many({1});
  s.on(0, 10).begin(many.args).pin();
  many.queue(s, {1});
  s.on(0, 10, 1).queue(&many.csd[3], 3, kIrqWork).on(0, 10).unpin().end();
  EXPECT_EQ(s.id(), "");
}

// ---- S-I7

call_args any_args(const smp::cpumask* mask) {
  return {.kind = call_kind::any, .wait = true, .mask = mask, .func = func};
}

TEST(Selection, SI7RefusedThoughACpuStayedOnline) {
  SelectionScript s;
  const smp::cpumask mask = mask_of({1, 2});
  const call_args args = any_args(&mask);
  s.on(2, 12)
      .go_offline(1)
      .on(0, 10)
      .begin(args)
      .pin()
      .ev(tp::any_selected, nullptr, 1)
      .unpin()
      .end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I7");
}

TEST(Selection, SI7RefusedThoughChosenInAnEarlierSection) {
  SelectionScript s;
  const smp::cpumask mask = mask_of({1, 2});
  const call_args args = any_args(&mask);
  s.on(0, 10).begin(args).pin().ev(tp::any_selected, nullptr, 1).unpin();
  s.on(2, 12).go_offline(1).on(0, 10).pin().unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I7");
}

TEST(Selection, SI7RefusedThoughItsOwnCpuIsInTheMask) {
  SelectionScript s;
  s.view.set_online(0, false);
  s.start();
  const smp::cpumask mask = mask_of({0});
  const call_args args = any_args(&mask);
  s.on(0, 10).begin(args).pin().ev(tp::any_selected, nullptr, 4).unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "S-I7");
}

TEST(Selection, SI7ChoosesACpuThatIsNotInTheMask) {
  SelectionScript s;
  const smp::cpumask mask = mask_of({1, 2});
  const call_args args = any_args(&mask);
  s.on(0, 10).begin(args).pin().ev(tp::any_selected, nullptr, 3).unpin().end();
  EXPECT_EQ(s.id(), "S-I7");
}

TEST(Selection, SI7ChoosesAnotherThoughItsOwnIsInTheMask) {
  SelectionScript s;
  const smp::cpumask mask = mask_of({0, 2});
  const call_args args = any_args(&mask);
  s.on(0, 10).begin(args).pin().ev(tp::any_selected, nullptr, 2).unpin().end();
  EXPECT_EQ(s.id(), "S-I7");
}

TEST(Selection, SI7LegalChoices) {
  const smp::cpumask remote = mask_of({1, 2}), own = mask_of({0, 2});
  const call_args to_remote = any_args(&remote), to_own = any_args(&own);
  SelectionScript s;
  s.on(0, 10).begin(to_remote).pin().ev(tp::any_selected, nullptr, 2).unpin().end();
  s.begin(to_own).pin().ev(tp::any_selected, nullptr, 0).unpin().end();
  EXPECT_EQ(s.id(), "");
}

TEST(Selection, SI7MayRefuseWhenNoneStayedOnline) {
  SelectionScript s;
  const smp::cpumask mask = mask_of({1, 2});
  const call_args args = any_args(&mask);
  s.on(3, 13).go_offline(1).on(0, 10).begin(args).pin().ev(tp::any_selected, nullptr, 4);
  s.on(3, 13).go_online(1).go_offline(2).on(0, 10).unpin().end(-ENXIO);
  EXPECT_EQ(s.id(), "");
}

TEST(Selection, SI7MaskThatChangesMeanwhile) {
  SelectionScript s;
  smp::cpumask mask = mask_of({1});
  const call_args args = any_args(&mask);
  s.on(0, 10).begin(args).pin().on(2, 12);
  mask.bits[0] = 0;
  s.ev(eev::rmw, &mask.bits[0], 2, 0)
      .on(0, 10)
      .ev(tp::any_selected, nullptr, 4)
      .unpin()
      .end(-ENXIO);
  EXPECT_EQ(s.id(), "");
}

// ---- S-I11

TEST(Selection, SI11AsksTwice) {
  for (const unsigned cpu : {0u, 1u}) {
    SelectionScript s;
    Many many;
    s.view.depth = 1;
    s.on(0, 10)
        .begin(many.args)
        .pin()
        .ev(tp::cond_result, nullptr, cpu, 0)
        .ev(tp::cond_result, nullptr, cpu, 0);
    EXPECT_EQ(s.id(), "S-I11");
  }
}

TEST(Selection, SI11AsksWithPreemptionOn) {
  SelectionScript s;
  Many many;
  s.on(0, 10).begin(many.args).pin().ev(tp::cond_result, nullptr, 1, 1);
  EXPECT_EQ(s.id(), "S-I11");
}

TEST(Selection, SI11AsksOnAnotherCpu) {
  SelectionScript s;
  Many many;
  s.view.depth = 1;
  s.on(0, 10).begin(many.args).pin().on(1, 10).ev(tp::cond_result, nullptr, 1, 1);
  EXPECT_EQ(s.id(), "S-I11");
}

TEST(Selection, SI11AsksWithTheCsdLocked) {
  SelectionScript s;
  Many many;
  s.view.depth = 1;
  s.on(0, 10).begin(many.args).pin().lock(&many.csd[1], 1).ev(tp::cond_result, nullptr, 1, 1);
  EXPECT_EQ(s.id(), "S-I11");
}

TEST(Selection, SI11OtherCsdsMayBeLocked) {
  SelectionScript s;
  Many many({1, 2});
  many.args.cond = [](int, void*) { return true; };
  s.view.depth = 1;
  s.on(0, 10).begin(many.args).pin();
  for (const unsigned cpu : {1u, 2u}) {
    s.ev(tp::cond_result, nullptr, cpu, 1).lock(&many.csd[cpu], cpu);
    many.queue(s, {cpu});
  }
  s.ev(tp::cond_result, nullptr, 0, 1).unpin().end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

}  // namespace
}  // namespace sd::oracle::testing
