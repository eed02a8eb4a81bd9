#include "rbacgen/markers/diagnostics.h"

#include <utility>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(Diagnostics, ReportsEachEntryOnceInTheOrderOfTheSource) {
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

TEST(Diagnostics, WarningsAreNotErrors) {
  Diagnostics d;
  d.Warning({"a.cc", 1}, "mind");
  EXPECT_EQ(d.errors(), 0);
}

TEST(Diagnostics, MergeCountsSharedEntriesOnce) {
  Diagnostics a, b;
  a.Error({"f", 2}, "both");
  a.Warning({"f", 3}, "warning");
  b.Error({"f", 2}, "both");
  b.Error({"f", 1}, "b's");
  b.Warning({"f", 3}, "warning");
  a.Merge(std::move(b));
  EXPECT_EQ(a.errors(), 2);
  EXPECT_EQ(a.Report(), "f:1: error: b's\nf:2: error: both\nf:3: warning: warning\n");
}

TEST(Diagnostics, AnUnreadableFileIsAnError) {
  Diagnostics a, b;
  EXPECT_FALSE(a.unreadable());
  b.Unreadable({"f"}, "cannot read it");
  a.Merge(std::move(b));
  EXPECT_TRUE(a.unreadable());
  EXPECT_EQ(a.errors(), 1);
  EXPECT_EQ(a.Report(), "f: error: cannot read it\n");
}

}  // namespace
}  // namespace mandate::rbacgen
