#include "core/oracle/oracles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

namespace sd::oracle {
namespace {

// 0: it has none.
int number_of(const char* id) {
  return std::string(id).starts_with("S-I") ? std::atoi(id + 3) : 0;
}

TEST(OracleTable, HasAllOfTheStackAndOfItsDebugging) {
  std::set<int> numbers;
  for (const OracleInfo& info : oracle_table()) numbers.insert(number_of(info.id));
  for (int number = 1; number <= 45; ++number)
    EXPECT_TRUE(numbers.count(number)) << "S-I" << number;
  EXPECT_TRUE(numbers.count(60));
}

TEST(OracleTable, IsInTheOrderOfTheNumbersAndNamesEachOnce) {
  int last = 0;
  std::set<std::string> names;
  for (const OracleInfo& info : oracle_table()) {
    EXPECT_TRUE(names.insert(info.id).second) << info.id;
    const int number = number_of(info.id);
    if (number == 0) {  // these come last
      last = 1000;
      continue;
    }
    EXPECT_GT(number, last);
    last = number;
  }
}

TEST(OracleTable, NamesObserversThatExistAndAllOfThem) {
  std::set<std::string> made, named;
  for (const auto& oracle : make_oracles()) made.insert(oracle->name());
  for (const OracleInfo& info : oracle_table()) named.insert(info.observer);
  EXPECT_EQ(made, named);
}

TEST(OracleTable, StatementsAreOneLineEach) {
  for (const OracleInfo& info : oracle_table()) {
    const std::string statement = info.statement;
    EXPECT_FALSE(statement.empty());
    EXPECT_LT(statement.size(), 110u) << info.id;
    EXPECT_EQ(statement.find('\n'), std::string::npos);
    EXPECT_NE(std::string(cost_name(info.cost)), "?");
  }
}

TEST(Oracles, CountsAreFoundInASet) {
  const Oracles oracles = make_oracles();
  ASSERT_NE(completion_of(oracles), nullptr);
  EXPECT_EQ(completion_of(oracles)->counts().unattributed, 0u);
  EXPECT_EQ(completion_of(Oracles{}), nullptr);
  EXPECT_EQ(describe_hang(Oracles{}), "");
}

}  // namespace
}  // namespace sd::oracle
