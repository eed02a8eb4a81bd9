#include "controllers/scope/unread.h"

#include <gtest/gtest.h>

namespace mandate::scope {
namespace {

TEST(UnavailableSinceTest, ShortGapsAreNotReported) {
  const ObjectKey a{"", "a"}, b{"", "b"};
  const absl::Status down = absl::UnavailableError("watch"),
                     denied = absl::PermissionDeniedError("");
  const absl::Time begin = absl::UnixEpoch();
  const absl::Time late = begin + UnavailableSince::kReported;
  const absl::Time early = late - absl::Milliseconds(1);
  UnavailableSince since;
  EXPECT_TRUE(since.MayReport(a, absl::OkStatus(), begin));
  EXPECT_TRUE(since.MayReport(a, denied, begin)) << "it does not end by itself";
  EXPECT_FALSE(since.MayReport(a, down, begin));
  EXPECT_FALSE(since.MayReport(a, down, early));
  EXPECT_FALSE(since.MayReport(b, down, late)) << "each has its own time";
  EXPECT_TRUE(since.MayReport(a, down, late));
  EXPECT_TRUE(since.MayReport(a, absl::OkStatus(), late));
  EXPECT_FALSE(since.MayReport(a, down, late)) << "it begins anew";
  since.Forget(b);
  EXPECT_FALSE(since.MayReport(b, down, late + UnavailableSince::kReported));
}

}  // namespace
}  // namespace mandate::scope
