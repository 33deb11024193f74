#include "torture/parse.h"

#include <gtest/gtest.h>

#include <limits>

namespace sd::torture {
namespace {

using std::chrono::milliseconds;

TEST(Parse, NumbersAreDecimalOrHexadecimalAndWhole) {
  EXPECT_EQ(parse_uint("0"), 0u);
  EXPECT_EQ(parse_uint("0x7b"), 123u);
  EXPECT_EQ(parse_uint("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(parse_int("-1"), -1);
  EXPECT_EQ(parse_int("-0x10"), -16);
  for (const char* bad : {"", "0x", "x", "1 ", " 1", "1k", "18446744073709551616", "--1", "1.5"}) {
    EXPECT_EQ(parse_uint(bad), std::nullopt) << bad;
    EXPECT_EQ(parse_int(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_uint("-1"), std::nullopt);
  EXPECT_EQ(parse_int("9223372036854775808"), std::nullopt);
}

TEST(Parse, BoolsAreTheKernels) {
  for (const char* yes : {"1", "y", "Y", "on", "ON", "yes"})
    EXPECT_EQ(parse_bool(yes), true) << yes;
  for (const char* no : {"0", "n", "N", "off", "no"}) EXPECT_EQ(parse_bool(no), false) << no;
  for (const char* bad : {"", "2", "true-ish", "onn"})
    EXPECT_EQ(parse_bool(bad), std::nullopt) << bad;
}

TEST(Parse, DurationsHaveAUnit) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("10m"), milliseconds(600'000));
  EXPECT_EQ(parse_duration("8h"), milliseconds(28'800'000));
  for (const char* bad :
       {"", "s", "30", "0s", "-1s", "1.5s", "30 s", "30S", "9999999h", "99999999999999999999s"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
  for (const char* text : {"1ms", "30s", "90s", "2h", "1500ms"}) {
    EXPECT_EQ(duration_text(*parse_duration(text)), text);
  }
}

TEST(Parse, NearestFindsSlipsAndNothingElse) {
  const std::vector<std::string> known = {"--cpus", "--seed", "--series"};
  EXPECT_EQ(nearest("--cpu", known), "--cpus");
  EXPECT_EQ(nearest("--sries", known), "--series");
  EXPECT_EQ(nearest("--quantum", known), "");
  EXPECT_EQ(nearest(std::string(1000, 'x'), known), "");
}

TEST(Parse, QuotesAreOnePrintableLine) {
  EXPECT_EQ(quote("a\nb\x01"), "'a?b?'");
  EXPECT_EQ(quote(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace sd::torture
