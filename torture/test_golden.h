// For tests: comparison with a file under torture/testdata. With SD_UPDATE_GOLDEN=1 in the
// environment the file is written instead; read the difference before you commit it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "torture/test_program.h"

namespace sd::torture {

// Tests run in the root of the tree.
inline void expect_golden(const std::string& actual, const std::string& name) {
  const std::string path = "torture/testdata/" + name;
  if (std::getenv("SD_UPDATE_GOLDEN") != nullptr) spill(path, actual);
  EXPECT_EQ(actual, slurp(path)) << "differs from " << path
                                 << "; SD_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace sd::torture
