#include "controllers/certificates/write_health.h"

#include <gtest/gtest.h>

namespace mandate::certificates {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);
const absl::Status kDenied = absl::PermissionDeniedError("no");
const absl::Status kImmutable = absl::FailedPreconditionError("immutable");

TEST(WriteHealth, FailsWhenErrorsLastLongerThanAMinute) {
  WriteHealth health;
  EXPECT_EQ(health.Ready(), absl::OkStatus());
  health.Note(kDenied, kStart);
  health.Note(kDenied, kStart + absl::Minutes(1));
  EXPECT_EQ(health.Ready(), absl::OkStatus());
  health.Note(kImmutable, kStart + absl::Seconds(61));
  EXPECT_EQ(health.Ready(), kImmutable);
  health.Note(absl::OkStatus(), kStart + absl::Seconds(62));
  EXPECT_EQ(health.Ready(), absl::OkStatus());
  health.Note(kDenied, kStart + absl::Seconds(63));
  EXPECT_EQ(health.Ready(), absl::OkStatus()) << "another minute";
}

TEST(WriteHealth, AConflictIsNotAnError) {
  WriteHealth health;
  health.Note(absl::AbortedError("conflict"), kStart);
  health.Note(absl::AbortedError("conflict"), kStart + absl::Minutes(5));
  EXPECT_EQ(health.Ready(), absl::OkStatus());
  health.Note(kDenied, kStart);
  health.Note(absl::AbortedError("conflict"), kStart + absl::Minutes(2));
  EXPECT_EQ(health.Ready(), absl::OkStatus());
  health.Note(kDenied, kStart + absl::Minutes(3));
  health.Note(absl::AbortedError("conflict"), kStart + absl::Minutes(4));
  EXPECT_EQ(health.Ready(), kDenied);
}

}  // namespace
}  // namespace mandate::certificates
