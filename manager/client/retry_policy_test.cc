#include "manager/client/retry_policy.h"

#include <gtest/gtest.h>

#include <optional>

#include "manager/core/not_sent.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

absl::Status Answer(int code, std::optional<absl::Duration> retry_after = std::nullopt) {
  return StatusFromResponse(code, "", retry_after);
}

TEST(RetryPolicy, Table) {
  const absl::Duration kSecond = absl::Seconds(1);
  const struct {
    const char* what;
    int code;
    absl::Status error;
    RetryReason idempotent;
    RetryReason once_only;
    bool may_have_been_processed;
  } kRows[] = {
      {"throttled", 429, Answer(429, kSecond), RetryReason::kThrottled, RetryReason::kThrottled,
       false},
      {"throttled, without a time", 429, Answer(429), RetryReason::kThrottled,
       RetryReason::kThrottled, false},
      {"unavailable, for a time", 503, Answer(503, kSecond), RetryReason::kRetryAfter,
       RetryReason::kNone, true},
      {"unavailable", 503, Answer(503), RetryReason::kNone, RetryReason::kNone, true},
      {"server timeout, for a time", 500, Answer(500, kSecond), RetryReason::kRetryAfter,
       RetryReason::kNone, true},
      {"gateway timeout", 504, Answer(504), RetryReason::kNone, RetryReason::kNone, true},
      {"conflict", 409, Answer(409), RetryReason::kNone, RetryReason::kNone, false},
      {"conflict, for a time", 409, Answer(409, kSecond), RetryReason::kNone, RetryReason::kNone,
       false},
      {"forbidden", 403, Answer(403), RetryReason::kNone, RetryReason::kNone, false},
      {"unauthorized", 401, Answer(401), RetryReason::kNone, RetryReason::kNone, false},
      {"cut", 0, absl::UnavailableError("reset"), RetryReason::kConnection, RetryReason::kNone,
       true},
      {"refused", 0, MarkNotSent(absl::UnavailableError("refused")), RetryReason::kNotSent,
       RetryReason::kNotSent, false},
      {"too late", 0, absl::DeadlineExceededError(""), RetryReason::kNone, RetryReason::kNone,
       true},
      {"no room", 0, MarkNotSent(absl::ResourceExhaustedError("")), RetryReason::kNone,
       RetryReason::kNone, false},
      {"too large", 0, absl::ResourceExhaustedError(""), RetryReason::kNone, RetryReason::kNone,
       true},
      {"cancelled", 0, absl::CancelledError(""), RetryReason::kNone, RetryReason::kNone, true},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(RetryReasonFor(row.code, row.error, true), row.idempotent) << row.what;
    EXPECT_EQ(RetryReasonFor(row.code, row.error, false), row.once_only) << row.what;
    EXPECT_EQ(MayHaveBeenProcessed(row.code, row.error), row.may_have_been_processed) << row.what;
  }
}

TEST(Ambiguous, IsAMarkThatExcludesNotSent) {
  const absl::Status plain = absl::UnavailableError("cut");
  EXPECT_FALSE(IsOutcomeUnknown(plain));
  EXPECT_FALSE(IsOutcomeUnknown(absl::OkStatus()));
  EXPECT_FALSE(IsOutcomeUnknown(MarkNotSent(plain)));
  EXPECT_TRUE(IsOutcomeUnknown(MarkOutcomeUnknown(plain)));
  const absl::Status marked = MarkOutcomeUnknown(MarkNotSent(plain));
  EXPECT_TRUE(IsOutcomeUnknown(marked));
  EXPECT_FALSE(WasNotSent(marked));
  EXPECT_EQ(marked.code(), plain.code());
  EXPECT_EQ(marked.message(), plain.message());
  EXPECT_EQ(ApiReason(MarkOutcomeUnknown(StatusFromResponse(
                500, R"({"kind":"Status","status":"Failure","reason":"ServerTimeout"})"))),
            "ServerTimeout")
      << "the server's reason stays";
}

}  // namespace
}  // namespace mandate
