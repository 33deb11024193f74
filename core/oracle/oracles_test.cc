#include "core/oracle/oracles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

namespace sd::oracle {
namespace {

int number_of(const char* id) {
  return std::atoi(id + 3);
}

TEST(OracleTable, HasAllOfTheStackAndOfItsDebugging) {
  std::set<int> numbers;
  for (const OracleInfo& info : oracle_table()) numbers.insert(number_of(info.id));
  for (int number = 1; number <= 45; ++number)
    EXPECT_TRUE(numbers.count(number)) << "S-I" << number;
  EXPECT_TRUE(numbers.count(60));
}

TEST(OracleTable, IsInTheOrderOfTheIdsAndNamesEachOnce) {
  int last = 0;
  for (const OracleInfo& info : oracle_table()) {
    EXPECT_EQ(std::string(info.id).substr(0, 3), "S-I");
    EXPECT_GT(number_of(info.id), last);
    last = number_of(info.id);
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
