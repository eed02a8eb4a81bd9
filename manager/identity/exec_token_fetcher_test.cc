#include "manager/kubeconfig/exec_token_fetcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/identity/caching_token_source.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

struct ExecTokenFetcherTest : testing::Test {
  ExecTokenFetcherTest() {
    options.loop = &loop;
    options.workers = &pool;
    options.plugin = {.api_version = std::string(kV1),
                      .command = "aws",
                      .args = {"eks", "get-token"},
                      .env = {{"AWS_SECRET", "wordy-secret"}},
                      .install_hint = "See https://aws.example.",
                      .info = R"({"kind":"ExecCredential"})",
                      .origin = "/kc: user \"u\""};
    Endpoint endpoint;
    endpoint.server = "https://api";
    endpoint.ca_pem = "CA";
    options.endpoint = std::make_shared<const Endpoint>(std::move(endpoint));
    options.log = Logger(log, loop.clock());
    options.run = [this](const CallContext& context, const ChildOptions& child) {
      ++runs;
      last = child;
      last_context = context;
      return answer;
    };
  }
  void Prints(std::string status, std::string errors = "", int code = 0) {
    answer = ChildResult{.code = code,
                         .output = StrCat(R"({"kind":"ExecCredential","apiVersion":")", kV1,
                                          R"(","status":)", status, "}"),
                         .errors = std::move(errors)};
  }
  std::string In(absl::Duration d) {
    return absl::FormatTime(absl::RFC3339_sec, loop.clock().WallTimeNow() + d, absl::UTCTimeZone());
  }
  FetchResult Fetch() {
    ExecTokenFetcher fetcher(options);
    std::optional<FetchResult> result;
    begin = loop.clock().TimeNow();
    fetcher.Fetch({.deadline = begin + absl::Seconds(7), .stop = {}},
                  [&](FetchResult r) { result = std::move(r); });
    EXPECT_FALSE(result.has_value()) << "inside the call";
    EXPECT_TRUE(loop.RunUntil([&] { return result.has_value(); }));
    EXPECT_THAT(std::string(result->error.message()), Not(HasSubstr("sEcReT")));
    EXPECT_THAT(std::string(result->error.message()), Not(HasSubstr("wordy-secret")));
    EXPECT_EQ(log->Count("sEcReT"), 0);
    return *std::move(result);
  }

  SimulatedLoop loop;
  SimulatedPool pool{loop, 1};
  std::shared_ptr<LogCapture> log = std::make_shared<LogCapture>(5);
  ExecTokenFetcher::Options options;
  absl::StatusOr<ChildResult> answer = absl::UnknownError("not set");
  absl::Time begin;
  int runs = 0;
  ChildOptions last;
  CallContext last_context;
};

TEST_F(ExecTokenFetcherTest, RunsTheCommandAndTakesItsToken) {
  Prints(StrCat(R"({"token":"sEcReT","expirationTimestamp":")", In(absl::Minutes(14)), R"("})"));
  const FetchResult result = Fetch();
  ASSERT_EQ(result.outcome, FetchOutcome::kIssued) << result.error;
  EXPECT_EQ(result.token->value->Reveal(), "sEcReT");
  EXPECT_EQ(result.token->certificate_endpoint, nullptr);
  EXPECT_LE(result.token->expires, begin + absl::Minutes(14));
  EXPECT_GT(result.token->expires, begin + absl::Minutes(13.9));
  EXPECT_THAT(result.token->DebugString(), HasSubstr("the credential plugin aws"));
  EXPECT_EQ(last.command, "aws");
  EXPECT_THAT(last.args, ElementsAre("eks", "get-token"));
  EXPECT_THAT(last.env,
              ElementsAre(testing::Pair("AWS_SECRET", "wordy-secret"),
                          testing::Pair("KUBERNETES_EXEC_INFO", R"({"kind":"ExecCredential"})")));
  EXPECT_EQ(last_context.deadline, begin + absl::Seconds(7));
  EXPECT_TRUE(log->lines().empty()) << log->lines()[0];
}

TEST_F(ExecTokenFetcherTest, LogsStandardErrorWithoutCredentials) {
  Prints(R"({"token":"sEcReTsEcReT"})", "Refreshed sEcReTsEcReT with wordy-secret.\n");
  const FetchResult result = Fetch();
  ASSERT_EQ(result.outcome, FetchOutcome::kIssued) << result.error;
  EXPECT_EQ(result.token->expires, absl::InfiniteFuture());
  EXPECT_EQ(log->Count("wrote to standard error command=aws "
                       "text=\"Refreshed <removed> with <removed>.\""),
            1)
      << log->Last("");
}

TEST_F(ExecTokenFetcherTest, NeverLogsTheKey) {
  Prints(R"({"clientCertificateData":"-----BEGIN CERTIFICATE-----",)"
         R"("clientKeyData":"-----BEGIN sEcReT"})",
         "made -----BEGIN sEcReT\n");
  ASSERT_EQ(Fetch().outcome, FetchOutcome::kIssued);
  EXPECT_EQ(log->Count("text=\"made <removed>\""), 1) << log->Last("");
}

TEST_F(ExecTokenFetcherTest, UsesACertificateWithTheSameServer) {
  Prints(R"({"clientCertificateData":"-----BEGIN CERTIFICATE-----",)"
         R"("clientKeyData":"-----BEGIN sEcReT"})");
  const FetchResult result = Fetch();
  ASSERT_EQ(result.outcome, FetchOutcome::kIssued) << result.error;
  ASSERT_NE(result.token->certificate_endpoint, nullptr);
  EXPECT_EQ(result.token->certificate_endpoint->server, "https://api");
  EXPECT_EQ(result.token->certificate_endpoint->client_certificate->certificate_pem,
            "-----BEGIN CERTIFICATE-----");
  EXPECT_EQ(result.token->certificate_endpoint->client_certificate->key_pem->Reveal(),
            "-----BEGIN sEcReT");
  options.accept = [](const ClientCertificate&) {
    return absl::FailedPreconditionError("it is an administrator's");
  };
  EXPECT_THAT(std::string(Fetch().error.message()),
              HasSubstr("a certificate that cannot be used: it is an administrator's"));
}

TEST_F(ExecTokenFetcherTest, EveryFailureNamesTheCommandAndTheNextStep) {
  const auto result = [](int code, const char* out, const char* err) {
    return ChildResult{.code = code, .output = out, .errors = err};
  };
  const struct {
    absl::StatusOr<ChildResult> answer;
    const char* says;
  } rows[] = {
      {absl::NotFoundError("the program does not exist"),
       "is not installed; install it, in a folder of $PATH. See https://aws.example."},
      {absl::PermissionDeniedError("permission denied; check that it is executable"),
       "check that it is executable"},
      {absl::DeadlineExceededError("it did not end in time"),
       "did not end in time and was killed; if it waits for a login"},
      {absl::ResourceExhaustedError("it printed more than 7 bytes"), "printed more than 7 bytes"},
      {result(255, "", "Unable to locate credentials\n"),
       "ended with exit code 255; run it by hand to see why; it wrote: Unable to locate "
       "credentials"},
      {result(1, "sEcReT", ""), "ended with exit code 1; run it by hand"},
      {result(0, "", "oops wordy-secret"),
       "invalid credential: it is empty; it wrote: oops <removed>"},
      {result(0, "sEcReT", ""), "printed an invalid credential: it is not JSON"},
  };
  for (const auto& row : rows) {
    answer = row.answer;
    const FetchResult failed = Fetch();
    EXPECT_EQ(failed.outcome, FetchOutcome::kPluginFailed);
    EXPECT_EQ(failed.error.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(failed.error.message()),
                HasSubstr("the credential plugin aws (/kc: user \"u\") "));
    EXPECT_THAT(std::string(failed.error.message()), HasSubstr(row.says));
  }
  Prints(StrCat(R"({"token":"sEcReT","expirationTimestamp":")", In(-absl::Minutes(1)), R"("})"));
  EXPECT_THAT(std::string(Fetch().error.message()), HasSubstr("check this machine's clock"));
}

TEST_F(ExecTokenFetcherTest, DestructionDropsItsCallbacks) {
  Prints(R"({"token":"sEcReT"})");
  auto fetcher = std::make_unique<ExecTokenFetcher>(options);
  auto held = std::make_shared<int>(0);
  fetcher->Fetch({}, [held](FetchResult) { FAIL(); });
  fetcher.reset();
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(held.use_count(), 1);
}

// As base uses it: one run at a time, early enough, and again if the server rejects the token.
TEST_F(ExecTokenFetcherTest, UnderACachingSourceItRunsForNewTokensOnly) {
  const auto print = [this] {
    Prints(StrCat(R"({"token":"sEcReT)", runs, R"(","expirationTimestamp":")",
                  In(absl::Minutes(10)), R"("})"));
  };
  options.run = [this, print](const CallContext&, const ChildOptions&) {
    ++runs;
    print();
    return answer;
  };
  auto source = *CachingTokenSource::Create({.loop = &loop,
                                             .fetcher = std::make_unique<ExecTokenFetcher>(options),
                                             .limiter = std::make_shared<FetchLimiter>(1),
                                             .identity = "home/base",
                                             .subject = "base"});
  int answers = 0;
  for (int i = 0; i < 5; ++i) {
    source->Fetch({}, [&](absl::StatusOr<std::shared_ptr<const Token>> token) {
      EXPECT_TRUE(token.ok()) << token.status();
      ++answers;
    });
  }
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(answers, 5);
  EXPECT_EQ(runs, 1);
  const auto first = source->Cached();
  ASSERT_NE(first, nullptr);
  loop.RunFor(absl::Minutes(6.5));
  EXPECT_EQ(runs, 1);
  loop.RunFor(absl::Minutes(2));
  EXPECT_EQ(runs, 2) << "before the end";
  const auto second = source->Cached();
  source->Invalidate(*first);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(runs, 2) << "a late 401 to the old one";
  source->Invalidate(*second);
  EXPECT_EQ(source->Cached(), nullptr);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(runs, 3);
  ASSERT_NE(source->Cached(), nullptr);
  EXPECT_FALSE(*source->Cached()->value == *second->value);
}

}  // namespace
}  // namespace mandate
