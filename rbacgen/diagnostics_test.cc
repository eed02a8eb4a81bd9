#include "rbacgen/diagnostics.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(Diagnostics, ReportsInTheOrderOfTheSourceAndOnce) {
  Diagnostics d;
  d.Error({"b.cc", 2}, "late");
  d.Error({"a.cc", 10}, "tenth");
  d.Warning({"a.cc", 9}, "ninth");
  d.Error({"a.cc", 10}, "tenth");
  d.Error({"a.cc"}, "whole file");
  EXPECT_EQ(d.Report(),
            "a.cc: error: whole file\n"
            "a.cc:9: warning: ninth\n"
            "a.cc:10: error: tenth\n"
            "b.cc:2: error: late\n");
  EXPECT_EQ(d.errors(), 3);
}

TEST(Diagnostics, WarningsAreNoErrors) {
  Diagnostics d;
  d.Warning({"a.cc", 1}, "mind");
  EXPECT_EQ(d.errors(), 0);
}

}  // namespace
}  // namespace mandate::rbacgen
