#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "manager/client/component_client.h"
#include "manager/client/retry_policy.h"
#include "manager/client/testing/client_fixture.h"
#include "manager/core/not_sent.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

FakeReply Refused() {
  return FakeReply::Error(MarkNotSent(absl::UnavailableError("connection refused")));
}
FakeReply Cut() { return FakeReply::Error(absl::UnavailableError("connection reset")); }

struct ComponentRetryTest : ClientFixture {
  // Fails the first `failures` attempts like this.
  void FailFirst(int failures, FakeReply with) {
    fake.ForgetRequests();
    server = [left = failures, with = std::move(with)](const HttpRequest&) mutable {
      return left-- > 0 ? with : FakeReply::Json(200, "done");
    };
  }
  static RestRequest Apply() {
    RestRequest request = Post();
    request.method = "PATCH";
    request.target += "/web";
    request.content_type = "application/apply-patch+yaml";
    request.idempotent = true;
    return request;
  }
};

TEST_F(ComponentRetryTest, RepeatsReadsAndWhatIsIdempotent) {
  for (const RestRequest& request : {Get(), Apply()}) {
    for (const FakeReply& trouble :
         {Busy(429, absl::Seconds(3)), Busy(503, absl::Seconds(3)), Cut(), Refused()}) {
      FailFirst(2, trouble);
      const Result result = Send(request);
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->body, "done");
      EXPECT_EQ(Sent(), 3u);
      if (trouble.result.ok()) {
        EXPECT_GE(took, absl::Seconds(6)) << "Retry-After is a promise";
      } else {
        EXPECT_GE(took, absl::Milliseconds(600));
      }
    }
  }
  EXPECT_EQ(Retries("throttled"), 4);
  EXPECT_EQ(Retries("retry_after"), 4);
  EXPECT_EQ(Retries("connection"), 4);
  EXPECT_EQ(Retries("not_sent"), 4);
}

TEST_F(ComponentRetryTest, RepeatsOtherWritesOnlyIfTheServerDidNothing) {
  for (const FakeReply& trouble : {Busy(429, absl::Seconds(3)), Refused()}) {
    FailFirst(2, trouble);
    const Result result = Send(Post());
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Sent(), 3u);
    EXPECT_GE(took, trouble.result.ok() ? absl::Seconds(6) : absl::Milliseconds(600));
  }
  for (const FakeReply& trouble : {Busy(503, absl::Seconds(3)), Busy(500, absl::Seconds(3)), Cut(),
                                   FakeReply::Error(MarkNotSent(absl::InternalError("ours")))}) {
    FailFirst(2, trouble);
    EXPECT_FALSE(Send(Post()).ok());
    EXPECT_EQ(Sent(), 1u);
  }
}

TEST_F(ComponentRetryTest, GivesUpAfterItsAttemptsWithTheLastError) {
  for (const RestRequest& request : {Get(), Post()}) {
    fake.ForgetRequests();
    server = [](const HttpRequest&) { return Busy(429, absl::Seconds(1)); };
    const Result result = Send(request);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(RetryAfter(result.status()), absl::Seconds(1));
    EXPECT_EQ(Sent(), 5u);
  }
  EXPECT_EQ(Met("attempts"), 2);
}

TEST_F(ComponentRetryTest, HonoursTheTimeInTheBodyToo) {
  FailFirst(1, FakeReply::Json(429, R"({"kind":"Status","status":"Failure","code":429,)"
                                    R"("details":{"retryAfterSeconds":7}})"));
  EXPECT_TRUE(Send(Post()).ok());
  EXPECT_GE(took, absl::Seconds(7));
}

TEST_F(ComponentRetryTest, ARetryThatWouldComeTooLateIsNotWaitedFor) {
  server = [](const HttpRequest&) { return Busy(429, absl::Seconds(20)); };
  const Result result = Send(Post(), absl::Seconds(10));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LT(took, absl::Seconds(1));
  EXPECT_EQ(RetryAfter(result.status()), absl::Seconds(20)) << "for whoever tries next";
}

TEST_F(ComponentRetryTest, ALongWaitIsTheCallers) {
  server = [](const HttpRequest&) { return Busy(429, absl::Seconds(31)); };
  const Result result = Send(Get(), absl::Hours(1));
  EXPECT_EQ(RetryAfter(result.status()), absl::Seconds(31));
  EXPECT_LT(took, absl::Seconds(1));
  EXPECT_EQ(Sent(), 1u);
  EXPECT_EQ(Met("retry_after"), 1);
}

// If a server asks to wait, the requests in flight wait, and no other request is sent.
TEST_F(ComponentRetryTest, AThousandCreatesAgainstAServerThatAsksForQuiet) {
  const absl::Time quiet_until = loop.clock().TimeNow() + absl::Seconds(12);
  size_t refused = 0;
  size_t created = 0;
  server = [&](const HttpRequest&) {
    if (loop.clock().TimeNow() < quiet_until) {
      ++refused;
      return Busy(429, absl::Seconds(5));
    }
    ++created;
    return FakeReply::Json(201, "{}");
  };
  size_t succeeded = 0;
  for (int i = 0; i < 1000; ++i) {
    client().Send(In(absl::Minutes(1)), Post(), [&](Result r) { succeeded += r.ok() ? 1 : 0; });
  }
  loop.RunFor(absl::Minutes(1));
  EXPECT_EQ(succeeded, 1000u);
  EXPECT_EQ(created, 1000u);
  EXPECT_EQ(refused, 3 * options.max_in_flight) << "at 0, 5 and 10 seconds";
  EXPECT_EQ(Sent(), created + refused);
}

// The result of a write that failed.

struct OutcomeRow {
  const char* what;
  RestRequest request;
  std::vector<FakeReply> replies;  // the last one for ever
  bool not_sent;
  bool ambiguous;
};

TEST_F(ComponentRetryTest, ErrorsTellWhatTheServerMayHaveDone) {
  const std::vector<OutcomeRow> rows = {
      {"refused by the server", Post(), {FakeReply::Code(409)}, false, false},
      {"throttled", Post(), {Busy(429, absl::Hours(1))}, false, false},
      {"cut", Post(), {Cut()}, false, true},
      {"failed in the server", Post(), {FakeReply::Code(500)}, false, true},
      {"a proxy's", Post(), {FakeReply::Code(502)}, false, true},
      {"too late", Post(), {FakeReply::Never()}, false, true},
      {"never sent", Post(), {Refused()}, true, false},
      {"cut, then refused", Apply(), {Cut(), FakeReply::Code(403)}, false, true},
      {"cut, then never sent", Apply(), {Cut(), Refused()}, false, true},
      {"a read that was cut", Get(), {Cut()}, false, false},
      {"a read that was too late", Get(), {FakeReply::Never()}, false, false},
  };
  for (const OutcomeRow& row : rows) {
    server = [&row, next = size_t{0}](const HttpRequest&) mutable {
      return row.replies[std::min(next++, row.replies.size() - 1)];
    };
    const Result result = Send(row.request);
    ASSERT_FALSE(result.ok()) << row.what;
    EXPECT_EQ(WasNotSent(result.status()), row.not_sent) << row.what;
    EXPECT_EQ(IsOutcomeUnknown(result.status()), row.ambiguous) << row.what;
  }
}

TEST_F(ComponentRetryTest, WhatDidNotLeaveTheClientWasNotSent) {
  options.max_in_flight = 1;
  options.max_queued = 1;
  server = [](const HttpRequest&) { return FakeReply::Never(); };
  std::vector<absl::Status> ended;
  const auto record = [&](Result r) { ended.push_back(r.status()); };
  client().Send(In(absl::Hours(1)), Post(), record);    // in flight
  client().Send(In(absl::Seconds(1)), Post(), record);  // waits, too long
  client().Send(In(absl::Seconds(1)), Post(), record);  // one too many
  loop.RunFor(absl::Seconds(2));
  ASSERT_EQ(ended.size(), 2u);
  for (const absl::Status& status : ended) {
    EXPECT_TRUE(WasNotSent(status)) << status;
    EXPECT_FALSE(IsOutcomeUnknown(status)) << status;
  }
  owned.reset();
  loop.RunReady();
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_TRUE(IsOutcomeUnknown(ended[2])) << "it was under way when the client went";
  options.mandate = &kNothing;
  EXPECT_TRUE(WasNotSent(Send(Post()).status())) << "the guard";
}

TEST_F(ComponentRetryTest, WithoutATokenNothingWasSent) {
  mint_error = FakeReply::Json(404, "");
  EXPECT_TRUE(WasNotSent(Send(Post()).status()));
}

}  // namespace
}  // namespace mandate
