#include "manager/identity/caching_token_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Result = absl::StatusOr<std::shared_ptr<const Token>>;
using State = TokenStatus::State;

FetchResult Failure(FetchOutcome outcome) {
  return {.outcome = outcome,
          .error = IsPermanent(outcome) ? absl::FailedPreconditionError("apply this")
                                        : absl::UnavailableError("try later")};
}

// Answers after `delay` with `answer`; by default with a token of `life`.
struct FakeFetcher : TokenFetcher {
  struct InFlight {
    int now = 0;
    int most = 0;
  };
  explicit FakeFetcher(SimulatedLoop& l) : loop(l) {}
  void Fetch(const CallContext&, Done done) override {
    ++fetches;
    in_flight->most = std::max(in_flight->most, ++in_flight->now);
    starts.push_back(loop.clock().TimeNow());
    const absl::Time when = loop.clock().TimeNow() + delay;
    loop.PostAt(when, [this, self = std::weak_ptr<int>(alive), done = std::move(done)]() mutable {
      if (self.expired()) return;
      --in_flight->now;
      std::move(done)(answer ? answer() : Issue());
    });
  }
  FetchResult Issue() {
    const absl::Time now = loop.clock().TimeNow();
    last = std::make_shared<const Token>(
        Token{.value = std::make_shared<const Secret>(StrCat("token-", fetches)),
              .subject = "ns/sa",
              .acquired = now - delay,
              .expires = now - delay + life});
    return {.outcome = FetchOutcome::kIssued, .token = last};
  }
  SimulatedLoop& loop;
  std::shared_ptr<int> alive = std::make_shared<int>();
  absl::Duration delay = absl::Milliseconds(20);
  absl::Duration life = absl::Hours(1);
  std::function<FetchResult()> answer;
  std::shared_ptr<const Token> last;
  int fetches = 0;
  std::shared_ptr<InFlight> in_flight = std::make_shared<InFlight>();
  std::vector<absl::Time> starts;
};

struct CachingTokenSourceTest : testing::Test {
  CachingTokenSourceTest() { Make("local/scope", 1); }

  void Make(std::string identity, uint64_t seed) {
    auto owned = std::make_unique<FakeFetcher>(loop);
    fetcher = owned.get();
    source = *CachingTokenSource::Create(
        {.loop = &loop,
         .fetcher = std::move(owned),
         .limiter = limiter,
         .identity = std::move(identity),
         .subject = "ns/sa",
         .seed = seed,
         .listener = [this](const TokenStatus& s) { heard.push_back(s); },
         .on_fetch = [this](FetchOutcome outcome) { outcomes.push_back(outcome); }});
  }

  absl::Time Now() { return loop.clock().TimeNow(); }

  // The result of a caller, and its wait.
  Result Get(absl::Duration timeout = absl::Seconds(10)) {
    std::optional<Result> result;
    const absl::Time start = Now();
    source->Fetch({.deadline = Now() + timeout, .stop = {}},
                  [&](Result r) { result = std::move(r); });
    EXPECT_FALSE(result.has_value()) << "answered inside Fetch()";
    EXPECT_TRUE(loop.RunUntil([&] { return result.has_value(); }));
    waited = Now() - start;
    return *result;
  }

  SimulatedLoop loop;
  std::shared_ptr<FetchLimiter> limiter = std::make_shared<FetchLimiter>(10);
  FakeFetcher* fetcher = nullptr;
  std::vector<TokenStatus> heard;
  std::vector<FetchOutcome> outcomes;
  std::unique_ptr<CachingTokenSource> source;
  absl::Duration waited;
};

TEST_F(CachingTokenSourceTest, FetchesOnceForManyCallers) {
  EXPECT_EQ(source->Cached(), nullptr);
  int answered = 0;
  for (int i = 0; i < 100; ++i) {
    source->Fetch({}, [&](Result r) {
      EXPECT_EQ((*r)->value->Reveal(), "token-1");
      ++answered;
    });
  }
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(answered, 100);
  EXPECT_EQ(fetcher->fetches, 1);
  EXPECT_EQ(source->Cached(), fetcher->last);
  EXPECT_EQ(Get().value(), fetcher->last);
  EXPECT_EQ(waited, absl::ZeroDuration());
}

TEST_F(CachingTokenSourceTest, RenewsBetween70And80PercentOfItsLifeAndNobodyWaits) {
  ASSERT_TRUE(Get().ok());
  fetcher->delay = absl::Seconds(20);
  const absl::Time start = Now();
  ASSERT_TRUE(loop.RunUntil([&] { return fetcher->fetches == 2; }));
  EXPECT_GE(Now() - start, absl::Minutes(41));
  EXPECT_LE(Now() - start, absl::Minutes(48));
  EXPECT_EQ(source->status().state, State::kRefreshing);
  EXPECT_EQ(Get().value()->value->Reveal(), "token-1");
  EXPECT_EQ(waited, absl::ZeroDuration());
  loop.RunFor(absl::Seconds(21));
  EXPECT_EQ(source->Cached()->value->Reveal(), "token-2");
  EXPECT_EQ(source->status().state, State::kValid);
}

TEST_F(CachingTokenSourceTest, LongLivedTokensAreRenewedDaily) {
  fetcher->life = absl::Hours(1000);
  ASSERT_TRUE(Get().ok());
  loop.RunFor(absl::Hours(23));
  EXPECT_EQ(fetcher->fetches, 1);
  loop.RunFor(absl::Hours(1) + absl::Seconds(1));
  EXPECT_EQ(fetcher->fetches, 2);
}

TEST_F(CachingTokenSourceTest, RenewalsOfIdentitiesStartedTogetherAreSpread) {
  std::vector<absl::Time> renewals;
  for (int i = 0; i < 200; ++i) {
    Make(StrCat("local/component-", i), 7);
    ASSERT_TRUE(Get().ok());
    const absl::Time start = Now();
    ASSERT_TRUE(loop.RunUntil([&] { return fetcher->fetches == 2; }));
    renewals.push_back(absl::UnixEpoch() + (Now() - start));
  }
  std::sort(renewals.begin(), renewals.end());
  EXPECT_GT(renewals.back() - renewals.front(), absl::Minutes(5));
  // At most a fair share in any ten seconds: 6 of 200 that are spread over six minutes.
  for (size_t i = 20; i < renewals.size(); ++i) {
    EXPECT_GT(renewals[i] - renewals[i - 20], absl::Seconds(10));
  }
}

TEST_F(CachingTokenSourceTest, RenewalsOfOneIdentityInManyProcessesAreSpreadBySeed) {
  std::set<absl::Duration> renewals;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Make("local/scope", seed);
    ASSERT_TRUE(Get().ok());
    const absl::Time start = Now();
    ASSERT_TRUE(loop.RunUntil([&] { return fetcher->fetches == 2; }));
    renewals.insert(Now() - start);
  }
  EXPECT_EQ(renewals.size(), 10u);
  EXPECT_LE(*renewals.rbegin() - *renewals.begin(), absl::Seconds(10));
}

TEST_F(CachingTokenSourceTest, KeepsAValidTokenWhenRenewalFailsAndRetriesUntilItWorks) {
  ASSERT_TRUE(Get().ok());
  fetcher->answer = [] { return Failure(FetchOutcome::kServerError); };
  loop.RunFor(absl::Minutes(50));
  EXPECT_EQ(source->status().state, State::kDegraded);
  EXPECT_TRUE(source->status().usable);
  EXPECT_EQ(Get().value()->value->Reveal(), "token-1");
  EXPECT_EQ(waited, absl::ZeroDuration());
  // 800 ms doubling to 30 s: about ten tries in the first two minutes, then two to three a minute.
  EXPECT_GT(fetcher->fetches, 6);
  EXPECT_LT(fetcher->fetches, 40);
  fetcher->answer = nullptr;
  loop.RunFor(absl::Seconds(31));
  EXPECT_EQ(source->status().state, State::kValid);
  EXPECT_NE(source->Cached()->value->Reveal(), "token-1");
}

TEST_F(CachingTokenSourceTest, NeverHandsOutATokenPastItsLife) {
  ASSERT_TRUE(Get().ok());
  const absl::Time end = fetcher->last->expires;
  fetcher->answer = [] { return Failure(FetchOutcome::kUnreachable); };
  loop.RunFor(end - absl::Seconds(11) - Now());
  EXPECT_NE(source->Cached(), nullptr);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(source->Cached(), nullptr);
  EXPECT_EQ(heard.back().usable, false) << "readiness must hear of the end";
  const Result late = Get(absl::Seconds(3));
  EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(waited, absl::Seconds(3));
  EXPECT_THAT(std::string(late.status().message()), testing::HasSubstr("try later"));
}

TEST_F(CachingTokenSourceTest, ACallerWaitsThroughTransientFailures) {
  fetcher->answer = [this] {
    return fetcher->fetches < 4 ? Failure(FetchOutcome::kThrottled) : fetcher->Issue();
  };
  EXPECT_EQ(Get(absl::Seconds(30)).value()->value->Reveal(), "token-4");
  EXPECT_GT(waited, absl::Milliseconds(800 + 1600 + 3200));
}

TEST_F(CachingTokenSourceTest, RetryAfterIsObeyedUpToItsBound) {
  fetcher->answer = [this] {
    FetchResult r = Failure(FetchOutcome::kThrottled);
    r.retry_after = fetcher->fetches == 1 ? absl::Seconds(40) : absl::Hours(9);
    return r;
  };
  source->Start();
  loop.RunFor(absl::Minutes(20));
  ASSERT_GE(fetcher->starts.size(), 3u);
  EXPECT_GE(fetcher->starts[1] - fetcher->starts[0], absl::Seconds(40));
  EXPECT_LE(fetcher->starts[1] - fetcher->starts[0], absl::Seconds(41));
  EXPECT_LE(fetcher->starts[2] - fetcher->starts[1], absl::Seconds(301));
}

TEST_F(CachingTokenSourceTest, PermanentErrorsAnswerAtOnceAndSlowDownToMinutes) {
  fetcher->answer = [] { return Failure(FetchOutcome::kNoServiceAccount); };
  EXPECT_EQ(Get().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(source->status().state, State::kDegraded);
  EXPECT_FALSE(source->status().usable);
  for (int i = 0; i < 3600; ++i) {
    EXPECT_EQ(Get().status().message(), "apply this");
    EXPECT_LE(waited, absl::Milliseconds(20)) << "a caller waited for a hopeless retry";
    loop.RunFor(absl::Seconds(1));
  }
  EXPECT_LE(fetcher->fetches, 36) << "requests in an hour of a caller per second";
  EXPECT_GE(fetcher->fetches, 20);
  // When the cause is fixed, it recovers by itself.
  fetcher->answer = nullptr;
  loop.RunFor(absl::Minutes(3));
  EXPECT_NE(source->Cached(), nullptr);
  EXPECT_TRUE(heard.back().usable);
}

TEST_F(CachingTokenSourceTest, DuringAFetchAPermanentErrorIsNotReturned) {
  fetcher->answer = [] { return Failure(FetchOutcome::kNoServiceAccount); };
  EXPECT_FALSE(Get().ok());
  fetcher->answer = nullptr;
  fetcher->delay = absl::Seconds(5);
  ASSERT_TRUE(loop.RunUntil([&] { return fetcher->fetches == 2; }));
  EXPECT_EQ(Get().value()->value->Reveal(), "token-2");
  EXPECT_EQ(waited, absl::Seconds(5));
  EXPECT_EQ(fetcher->fetches, 2);
}

TEST_F(CachingTokenSourceTest, TowardsItsEndAFailingRenewalIsRetriedSoonerButNotInATightLoop) {
  ASSERT_TRUE(Get().ok());
  const absl::Time end = fetcher->last->expires - absl::Seconds(10);
  fetcher->answer = [] { return Failure(FetchOutcome::kServerError); };
  loop.RunFor(end - Now());
  EXPECT_EQ(source->Cached(), nullptr);
  absl::Duration least = absl::InfiniteDuration();
  for (size_t i = 2; i < fetcher->starts.size(); ++i) {
    least = std::min(least, fetcher->starts[i] - fetcher->starts[i - 1]);
  }
  EXPECT_GE(least, absl::Milliseconds(800) + fetcher->delay);
  // If the token's end did not count, the last pauses would take 20 to 30 s.
  EXPECT_GE(std::count_if(fetcher->starts.begin(), fetcher->starts.end(),
                          [&](absl::Time start) { return start > end - absl::Seconds(20); }),
            6);
}

TEST_F(CachingTokenSourceTest, InvalidateForgetsOnlyTheRejectedToken) {
  const auto first = Get().value();
  loop.RunFor(absl::Minutes(50));
  const auto second = source->Cached();
  ASSERT_NE(second, first);
  source->Invalidate(*first);
  EXPECT_EQ(source->Cached(), second) << "a late 401 killed a newer token";
  EXPECT_EQ(fetcher->fetches, 2);
  source->Invalidate(*second);
  source->Invalidate(*second);
  EXPECT_EQ(source->Cached(), nullptr);
  EXPECT_EQ(source->status().state, State::kDegraded);
  EXPECT_EQ(Get().value()->value->Reveal(), "token-3");
  EXPECT_EQ(fetcher->fetches, 3) << "one forced fetch per rejected token";
  EXPECT_EQ(source->status().state, State::kValid);
}

TEST_F(CachingTokenSourceTest, AStormOf401sDoesNotBecomeAStormOfFetches) {
  source->Start();
  for (int i = 0; i < 36'000; ++i) {
    loop.RunFor(absl::Milliseconds(100));
    if (auto token = source->Cached()) {
      for (int k = 0; k < 10; ++k) source->Invalidate(*token);
    }
  }
  EXPECT_LE(fetcher->fetches, 45) << "in an hour in which the server rejects every token";
  // When tokens are valid again and one was used for long enough, the next rejection is answered at
  // once.
  loop.RunFor(absl::Minutes(10));
  const int before = fetcher->fetches;
  source->Invalidate(*source->Cached());
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(fetcher->fetches, before + 1);
  EXPECT_NE(source->Cached(), nullptr);
}

TEST_F(CachingTokenSourceTest, InvalidateWhileRenewalsFailKeepsTheirPace) {
  ASSERT_TRUE(Get().ok());
  fetcher->answer = [] { return Failure(FetchOutcome::kTokenRequestForbidden); };
  loop.RunFor(absl::Minutes(55));
  const int before = fetcher->fetches;
  source->Invalidate(*source->Cached());
  loop.RunReady();
  EXPECT_EQ(fetcher->fetches, before);
  EXPECT_EQ(Get().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CachingTokenSourceTest, FetchesOfAllIdentitiesAreBounded) {
  limiter = std::make_shared<FetchLimiter>(3);
  std::vector<std::unique_ptr<CachingTokenSource>> sources;
  for (int i = 0; i < 50; ++i) {
    auto counted = std::make_unique<FakeFetcher>(loop);
    counted->in_flight = fetcher->in_flight;
    sources.push_back(*CachingTokenSource::Create({.loop = &loop,
                                                   .fetcher = std::move(counted),
                                                   .limiter = limiter,
                                                   .identity = StrCat("i", i),
                                                   .subject = "s"}));
    sources.back()->Start();
  }
  sources.erase(sources.begin() + 20, sources.begin() + 30);
  loop.RunFor(absl::Seconds(5));
  EXPECT_EQ(fetcher->in_flight->most, 3);
  for (const auto& s : sources) EXPECT_TRUE(s->status().usable);
}

TEST_F(CachingTokenSourceTest, AnExpiredTokenIsAFailure) {
  fetcher->life = absl::Seconds(5);
  EXPECT_EQ(Get(absl::Seconds(5)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(outcomes.size(), 2u);
  EXPECT_THAT(outcomes, testing::Each(FetchOutcome::kMalformed));
  EXPECT_LE(fetcher->fetches, 4);
}

TEST_F(CachingTokenSourceTest, DestructionEndsItsCallers) {
  std::optional<Result> result;
  source->Fetch({}, [&](Result r) { result = std::move(r); });
  loop.RunReady();
  source.reset();
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kCancelled);
}

TEST_F(CachingTokenSourceTest, TheListenerHearsEachChangeOnce) {
  ASSERT_TRUE(Get().ok());
  loop.RunFor(absl::Minutes(10));
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].state, State::kValid);
}

TEST(TokenTest, PrintsWithoutItsValue) {
  const Token token{.value = std::make_shared<const Secret>("eyJhbGciOi.secret"),
                    .subject = "system:serviceaccount:ns:sa",
                    .expires = absl::FromUnixSeconds(1'700'000'000)};
  EXPECT_EQ(token.DebugString(),
            "Token(system:serviceaccount:ns:sa, expires 2023-11-14T22:13:20+00:00, 17 bytes)");
  EXPECT_EQ((Token{.value = nullptr, .subject = "x"}.DebugString()),
            "Token(x, expires unknown, 0 bytes)");
}

}  // namespace
}  // namespace mandate
