#include "manager/core/log_reason.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(LogReasonTest, OmitsOnlyAManifest) {
  const struct {
    const char* message;
    const char* reason;
  } rows[] = {
      {"", ""},
      {"no answer. Try again", "no answer. Try again"},
      {"two\nlines", "two\nlines"},
      {"it may not list pods (no. 1). Apply (it is part of the chart):\napiVersion: v1\nkind: "
       "Role\n",
       "it may not list pods (no. 1); /readyz?verbose shows the manifest to apply"},
      {"apply:\napiVersion: v1\n", "apply; /readyz?verbose shows the manifest to apply"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(LogReason(absl::NotFoundError(row.message)), row.reason);
  }
}

}  // namespace
}  // namespace mandate
