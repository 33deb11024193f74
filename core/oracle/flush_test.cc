#include "core/oracle/flush.h"

#include "core/oracle/test_script.h"

namespace sd::oracle::testing {
namespace {

using FlushScript = Script<Flush>;

struct Nodes {
  call_single_data_t of[6]{};
};

// Adds to CPU 1's queue, in this order, and lets it take them all.
void fill_and_take(FlushScript& s, Nodes& nodes, unsigned count) {
  for (unsigned i = 0; i < count; ++i) s.on(0, 10).add(&nodes.of[i], 1);
  s.on(1, 11, 1).flush_begin().take();
}

TEST(Flush, SI25LegalOrder) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 6);
  s.unlink(&n.of[1], kSync).unlink(&n.of[4], kSync);                               // overtake
  s.unlink(&n.of[0], kAsync).unlink(&n.of[2], kIrqWork).unlink(&n.of[3], kAsync);  // one line
  s.unlink(&n.of[5], kTtwu).flush_end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Flush, SI25SyncAfterAsync) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 2);
  s.unlink(&n.of[0], kAsync).unlink(&n.of[1], kSync);
  EXPECT_EQ(s.id(), "S-I25");
}

TEST(Flush, SI25NewestFirst) {
  for (const unsigned type : {kSync, kAsync, kIrqWork}) {
    FlushScript s;
    Nodes n;
    fill_and_take(s, n, 2);
    s.unlink(&n.of[1], type).unlink(&n.of[0], type);
    EXPECT_EQ(s.id(), "S-I25");
  }
}

TEST(Flush, SI25WakeUpBeforeAnother) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 2);
  s.unlink(&n.of[0], kTtwu).unlink(&n.of[1], kAsync);
  EXPECT_EQ(s.id(), "S-I25");
}

TEST(Flush, SI25WakeUpsInAnyOrder) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 2);
  s.unlink(&n.of[1], kTtwu).unlink(&n.of[0], kTtwu).flush_end();
  EXPECT_EQ(s.id(), "");
}

TEST(Flush, SI26HandlesAnEntryTwice) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 1);
  s.unlink(&n.of[0], kAsync).unlink(&n.of[0], kAsync);
  EXPECT_EQ(s.id(), "S-I26");
}

TEST(Flush, SI26HandlesWhatItDidNotTake) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 1);
  s.on(0, 10).add(&n.of[1], 1).on(1, 11, 1).unlink(&n.of[1], kAsync);
  EXPECT_EQ(s.id(), "S-I26");
}

TEST(Flush, SI26HandlesWhatIsOnAnotherQueue) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 1);
  s.on(0, 10).add(&n.of[1], 2).on(2, 12, 1).take().on(1, 11, 1).unlink(&n.of[1], kAsync);
  EXPECT_EQ(s.id(), "S-I26");
}

TEST(Flush, SI27TakesTheQueueOfAnotherCpu) {
  FlushScript s;
  Nodes n;
  s.on(0, 10).add(&n.of[0], 1).on(2, 12).take(1);
  EXPECT_EQ(s.id(), "S-I27");
}

TEST(Flush, SI28LeavesAnEntry) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 2);
  s.unlink(&n.of[1], kSync).flush_end();
  EXPECT_EQ(s.id(), "S-I28");
}

TEST(Flush, SI28WhatIsQueuedMeanwhileIsTheNextOnes) {
  FlushScript s;
  Nodes n;
  fill_and_take(s, n, 1);
  s.unlink(&n.of[0], kAsync);
  s.on(0, 10).add(&n.of[0], 1).add(&n.of[1], 1);  // the same entry again, and another
  s.on(1, 11, 1).flush_end().flush_begin().take();
  s.unlink(&n.of[0], kAsync).unlink(&n.of[1], kAsync).flush_end();
  EXPECT_EQ(s.id(), "") << s.failure().message;
}

TEST(Flush, SI28EmptyFlush) {
  FlushScript s;
  s.on(1, 11, 1).flush_begin().take().flush_end();
  EXPECT_EQ(s.id(), "");
}

}  // namespace
}  // namespace sd::oracle::testing
