#include "torture/wire.h"

#include <gtest/gtest.h>

namespace sd::torture {
namespace {

Finding example() {
  Finding finding;
  finding.execution = 42;
  finding.failure.kind = engine::FailureKind::hang;
  finding.failure.id = "hang";
  finding.failure.function = "csd_lock_wait";
  finding.failure.message = "nothing can run";
  finding.failure.detail = "a\nb\n";
  finding.failure.cpu = 3;
  finding.failure.task = "init";
  finding.failure.step = 1u << 20;
  finding.failure.time_ns = ~uint64_t{0};
  finding.signature = "hang@csd_lock_wait";
  finding.events = std::string("with\0zero", 9);
  finding.replay = std::string(100'000, 'r');
  finding.remark = "odd";
  finding.verified = true;
  return finding;
}

std::string encoded(const Finding& finding) {
  std::string bytes;
  encode(finding, &bytes);
  return bytes;
}

TEST(Wire, AFindingComesOutAsItWentIn) {
  std::string bytes = encoded(example());
  const auto finding = decode(&bytes);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(encoded(*finding), encoded(example()));
  EXPECT_EQ(finding->execution, 42u);
  EXPECT_EQ(finding->failure.kind, engine::FailureKind::hang);
  EXPECT_EQ(finding->events.size(), 9u);
  EXPECT_TRUE(finding->first());
  EXPECT_EQ(bytes, "");
}

TEST(Wire, HalfAFindingIsNone) {
  const std::string whole = encoded(example());
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{100}, whole.size() - 1}) {
    std::string part = whole.substr(0, size);
    EXPECT_FALSE(decode(&part).has_value()) << size;
    EXPECT_EQ(part.size(), size) << "nothing may be taken off";
  }
}

TEST(Wire, FindingsArriveInOrder) {
  Finding second;
  second.execution = 43;
  std::string bytes = encoded(example()) + encoded(second);
  EXPECT_EQ(decode(&bytes)->execution, 42u);
  EXPECT_EQ(decode(&bytes)->execution, 43u);
  EXPECT_FALSE(decode(&bytes).has_value());
}

}  // namespace
}  // namespace sd::torture
