#include "torture/totals.h"

#include <gtest/gtest.h>

#include <thread>

namespace sd::torture {
namespace {

Totals all(uint64_t n) {
  Totals totals;
  totals.executions = totals.steps = totals.choices = totals.virtual_ns = totals.failures = n;
  totals.scf.ops = static_cast<int64_t>(n);
  totals.scf.sum_offline = static_cast<int64_t>(n);
  return totals;
}

TEST(Totals, AddUp) {
  Totals sum = all(3);
  sum.add(all(4));
  EXPECT_EQ(sum.executions, 7u);
  EXPECT_EQ(sum.steps, 7u);
  EXPECT_EQ(sum.choices, 7u);
  EXPECT_EQ(sum.virtual_ns, 7u);
  EXPECT_EQ(sum.failures, 7u);
  EXPECT_EQ(sum.scf.ops, 7);
}

TEST(TotalsPage, IsReadAsItWasPublished) {
  TotalsPage page;
  Totals read = all(9);
  EXPECT_TRUE(page.read(&read));
  EXPECT_EQ(read.executions, 0u);
  page.publish(all(5));
  EXPECT_TRUE(page.read(&read));
  EXPECT_EQ(read.executions, 5u);
  EXPECT_EQ(read.scf.sum_offline, 5);
}

TEST(TotalsPage, IsNeverReadHalfWritten) {
  TotalsPage page;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (uint64_t n = 1; !stop; n++) page.publish(all(n));
  });
  unsigned seen = 0;
  while (seen < 10'000) {
    Totals read;
    if (!page.read(&read)) continue;
    seen++;
    ASSERT_EQ(read.executions, read.failures);
    ASSERT_EQ(static_cast<int64_t>(read.executions), read.scf.sum_offline);
  }
  stop = true;
  writer.join();
}

// The writer's words, with a version that says: in the middle of publishing.
TEST(TotalsPage, OfAWriterThatDiedInTheMiddleKeepsWhatWasKnown) {
  auto* page = new TotalsPage;
  page->publish(all(5));
  Totals known;
  ASSERT_TRUE(page->read(&known));
  *reinterpret_cast<uint32_t*>(page) += 1;
  EXPECT_FALSE(page->read(&known));
  EXPECT_EQ(known.executions, 5u);
  delete page;
}

}  // namespace
}  // namespace sd::torture
