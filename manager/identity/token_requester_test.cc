#include "manager/identity/token_requester.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/kubeconfig/file_token_source.h"
#include "manager/transport/testing/fake_transport.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kToken[] = "/api/v1/namespaces/mandate/serviceaccounts/mandate-manager-scope/token";
constexpr char kAccounts[] = "/api/v1/namespaces/mandate/serviceaccounts";

std::string Issued(int seconds = 3600) {
  return StrCat(R"({"kind":"TokenRequest","spec":{"expirationSeconds":)", seconds,
                R"(},"status":{"token":"minted","expirationTimestamp":"2000-01-01T00:00:00Z"}})");
}

std::string ApiError(int code, std::string_view reason, std::string_view message,
                     std::string_view kind = "") {
  return StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")", message,
                R"(","reason":")", reason, R"(","details":{"kind":")", kind, R"("},"code":)", code,
                "}");
}

struct TokenRequesterTest : testing::Test {
  TokenRequesterTest() {
    options.loop = &loop;
    options.transport = &fake;
    options.base = &base;
    options.endpoint = std::make_shared<const Endpoint>(Endpoint{.server = "https://api:6443",
                                                                 .ca_pem = "CA",
                                                                 .tls_server_name = "",
                                                                 .client_certificate = {}});
    options.user_agent = "mandate-manager/1 (linux/amd64)";
    options.ns = "mandate";
    options.service_account = "mandate-manager-scope";
  }

  FetchResult Fetch() {
    requester = *TokenRequester::Create(options);
    std::optional<FetchResult> result;
    requester->Fetch({.deadline = loop.clock().TimeNow() + absl::Seconds(30), .stop = {}},
                     [&](FetchResult r) {
                       EXPECT_FALSE(result.has_value());
                       result = std::move(r);
                     });
    EXPECT_FALSE(result.has_value()) << "answered inside Fetch()";
    loop.RunUntil([&] { return result.has_value(); });
    EXPECT_EQ(fake.unmet_expectations(), 0u);
    return *std::move(result);
  }
  std::vector<std::string> Sent() {
    std::vector<std::string> lines;
    for (const auto& r : fake.requests()) lines.push_back(StrCat(r.method, " ", r.target));
    return lines;
  }

  SimulatedLoop loop;
  FakeTransport fake{loop};
  absl::StatusOr<std::string> file = "base-token";
  FileTokenSource base{
      {.loop = &loop, .path = "/token", .reader = [this](const std::string&) { return file; }}};
  TokenRequester::Options options;
  std::unique_ptr<TokenRequester> requester;
};

TEST_F(TokenRequesterTest, AsksAsBaseAndCountsTheLifeFromBeforeTheRequest) {
  loop.simulated_clock().SetWallSkew(absl::Hours(-5));
  const absl::Time start = loop.clock().TimeNow();
  fake.Expect("POST", kToken, FakeReply::Json(201, Issued(7200)).After(absl::Seconds(3)));
  const FetchResult result = Fetch();
  ASSERT_EQ(result.outcome, FetchOutcome::kIssued) << result.error;
  EXPECT_EQ(result.token->value->Reveal(), "minted");
  EXPECT_EQ(result.token->subject, "system:serviceaccount:mandate:mandate-manager-scope");
  EXPECT_EQ(result.token->acquired, start);
  EXPECT_EQ(result.token->expires, start + absl::Hours(2)) << "neither wall clock nor timestamp";
  ASSERT_EQ(fake.requests().size(), 1u);
  const RecordedRequest& sent = fake.requests()[0];
  EXPECT_EQ(sent.token, "base-token");
  EXPECT_EQ(sent.user_agent, "mandate-manager/1 (linux/amd64)");
  EXPECT_EQ(sent.target, kToken);
  EXPECT_EQ(sent.content_type, "application/json");
  EXPECT_THAT(sent.body, HasSubstr(R"("expirationSeconds":3600)"));
  EXPECT_THAT(sent.body, Not(HasSubstr("boundObjectRef")));
  EXPECT_TRUE(sent.headers.empty());
}

TEST_F(TokenRequesterTest, SendsAudienceLifeAndSecret) {
  options.audiences = {"https://explorer"};
  options.expiration = absl::Minutes(10);
  options.bound_secret = "mandate-manager-scope";
  fake.Expect("POST", kToken, FakeReply::Json(201, Issued(600)));
  EXPECT_EQ(Fetch().outcome, FetchOutcome::kIssued);
  EXPECT_THAT(fake.requests()[0].body,
              HasSubstr(R"("spec":{"audiences":["https://explorer"],)"
                        R"("boundObjectRef":{"apiVersion":"v1","kind":"Secret",)"
                        R"("name":"mandate-manager-scope"},"expirationSeconds":600})"));
}

TEST_F(TokenRequesterTest, ACertificateIsBaseWhenThereIsNoToken) {
  options.base = nullptr;
  options.endpoint = std::make_shared<const Endpoint>(
      Endpoint{.server = "https://api:6443",
               .ca_pem = "CA",
               .tls_server_name = "",
               .client_certificate = ClientCertificate{
                   .certificate_pem = "C", .key_pem = std::make_shared<const Secret>("K")}});
  fake.Expect("POST", kToken, FakeReply::Json(201, Issued()));
  EXPECT_EQ(Fetch().outcome, FetchOutcome::kIssued);
  EXPECT_EQ(fake.requests()[0].token, std::nullopt);
}

// The API server's answers to a TokenRequest, each with its cause.
struct Refusal {
  const char* name;
  int code;
  std::string body;
  FetchOutcome outcome;
  std::vector<std::string> says;
};

TEST_F(TokenRequesterTest, EveryErrorHasAnOutcomeAndANextStep) {
  options.bound_secret = "mandate-manager-scope";
  const Refusal kRefusals[] = {
      {"no ServiceAccount",
       404,
       ApiError(404, "NotFound", R"(serviceaccounts \"mandate-manager-scope\" not found)",
                "serviceaccounts"),
       FetchOutcome::kNoServiceAccount,
       {"ServiceAccount mandate/mandate-manager-scope does not exist",
        "kind: ServiceAccount\nmetadata:\n  name: mandate-manager-scope\n  namespace: mandate\n"}},
      {"no Secret",
       404,
       ApiError(404, "NotFound", "secrets not found", "secrets"),
       FetchOutcome::kNoBoundSecret,
       {"are disabled", "kind: Secret\nmetadata:\n  name: mandate-manager-scope\n"}},
      {"may not mint",
       403,
       ApiError(403, "Forbidden",
                R"(User \"system:serviceaccount:mandate:mandate-manager\" cannot create)"),
       FetchOutcome::kTokenRequestForbidden,
       {"base may not request a token of", "cannot create",
        "resources: [\"serviceaccounts/token\"]\n  resourceNames: [\"mandate-manager-scope\"]",
        "kind: RoleBinding"}},
      {"denied by a policy",
       403,
       ApiError(403, "Forbidden",
                "forbidden: ValidatingAdmissionPolicy 'mandate-manager-tokens' with binding "
                "'mandate-manager-tokens' denied request: base may only request tokens that are "
                "valid for an hour at most"),
       FetchOutcome::kRejected,
       {"admission does not allow base to request a token of", "an hour at most", "killSwitch"}},
      {"invalid",
       422,
       ApiError(422, "Invalid", "may not specify a duration less than 10 minutes"),
       FetchOutcome::kRejected,
       {"duration less than 10 minutes"}},
      {"bad request",
       400,
       ApiError(400, "BadRequest", "unsupported kind"),
       FetchOutcome::kRejected,
       {"unsupported kind"}},
      {"other uid",
       409,
       ApiError(409, "Conflict", "the UID in the bound object reference"),
       FetchOutcome::kRejected,
       {"the UID"}},
      {"401",
       401,
       ApiError(401, "Unauthorized", "Unauthorized"),
       FetchOutcome::kBaseRejected,
       {"does not accept the manager's own credential (/token)", "reads it again"}},
      {"anonymous",
       403,
       ApiError(403, "Forbidden", R"(forbidden: User \"system:anonymous\" cannot create)"),
       FetchOutcome::kBaseRejected,
       {"does not accept the manager's own credential"}},
      {"throttled", 429, "too many", FetchOutcome::kThrottled, {"429"}},
      {"server error", 500, "oops", FetchOutcome::kServerError, {"500", "oops"}},
      {"overloaded", 503, "", FetchOutcome::kServerError, {"503"}},
      {"timeout", 504, "", FetchOutcome::kServerError, {"504"}},
      {"redirect", 302, "", FetchOutcome::kRejected, {"302"}},
      {"no token in it",
       201,
       R"({"spec":{"expirationSeconds":3600}})",
       FetchOutcome::kMalformed,
       {"no status.token"}},
  };
  for (const Refusal& c : kRefusals) {
    SCOPED_TRACE(c.name);
    fake.Expect("POST", kToken, FakeReply::Json(c.code, c.body));
    const FetchResult result = Fetch();
    EXPECT_EQ(result.outcome, c.outcome) << result.error;
    EXPECT_EQ(result.token, nullptr);
    EXPECT_EQ(result.error.code(), IsPermanent(c.outcome) ? absl::StatusCode::kFailedPrecondition
                                                          : absl::StatusCode::kUnavailable);
    for (const std::string& s : c.says) {
      EXPECT_THAT(std::string(result.error.message()), HasSubstr(s));
    }
    EXPECT_THAT(std::string(result.error.message()), HasSubstr("mandate-manager-scope"));
    EXPECT_THAT(result.error.ToString(), Not(HasSubstr("base-token")));
  }
}

TEST_F(TokenRequesterTest, A401MakesBaseReadItsFileAgain) {
  fake.Expect("POST", kToken, FakeReply::Json(401, ""));
  Fetch();
  file = "rotated";
  fake.Expect("POST", kToken, FakeReply::Json(201, Issued()));
  EXPECT_EQ(Fetch().outcome, FetchOutcome::kIssued);
  EXPECT_EQ(fake.requests()[1].token, "rotated");
}

TEST_F(TokenRequesterTest, RetryAfterIsHandedOn) {
  FakeReply reply = FakeReply::Json(429, "");
  reply.result->retry_after = absl::Seconds(7);
  fake.Expect("POST", kToken, reply);
  EXPECT_EQ(Fetch().retry_after, absl::Seconds(7));
}

TEST_F(TokenRequesterTest, WithoutAnAnswerOrABaseTokenItIsTransient) {
  fake.Expect("POST", kToken, FakeReply::Error(absl::UnavailableError("connection refused")));
  FetchResult result = Fetch();
  EXPECT_EQ(result.outcome, FetchOutcome::kUnreachable);
  EXPECT_THAT(std::string(result.error.message()),
              HasSubstr("at https://api:6443: connection refused"));
  fake.Expect("POST", kToken, FakeReply::Never());
  result = Fetch();
  EXPECT_EQ(result.outcome, FetchOutcome::kUnreachable);
  loop.RunFor(absl::Minutes(1));
  fake.ForgetRequests();
  file = absl::NotFoundError("cannot open /token");
  FileTokenSource none(
      {.loop = &loop, .path = "/token", .reader = [this](const std::string&) { return file; }});
  options.base = &none;
  result = Fetch();
  EXPECT_EQ(result.outcome, FetchOutcome::kNoBaseToken);
  EXPECT_THAT(std::string(result.error.message()), HasSubstr("cannot open /token"));
  EXPECT_TRUE(fake.requests().empty()) << "nothing is sent without base's credential";
}

TEST_F(TokenRequesterTest, CreatesNothingUnlessTold) {
  fake.Expect("POST", kToken, FakeReply::Json(404, ""));
  EXPECT_EQ(Fetch().outcome, FetchOutcome::kNoServiceAccount);
  EXPECT_THAT(Sent(), ElementsAre(StrCat("POST ", kToken)));
}

TEST_F(TokenRequesterTest, CreatesTheServiceAccountWhenTold) {
  options.create_service_account = true;
  for (int created : {201, 409}) {
    fake.ForgetRequests();
    fake.Expect("POST", kToken, FakeReply::Json(404, ""));
    fake.Expect("POST", kAccounts, FakeReply::Json(created, ""));
    fake.Expect("POST", kToken, FakeReply::Json(201, Issued()));
    EXPECT_EQ(Fetch().outcome, FetchOutcome::kIssued);
    EXPECT_THAT(Sent(), ElementsAre(StrCat("POST ", kToken), StrCat("POST ", kAccounts),
                                    StrCat("POST ", kToken)));
    EXPECT_EQ(fake.requests()[1].body,
              R"({"apiVersion":"v1","kind":"ServiceAccount",)"
              R"("metadata":{"name":"mandate-manager-scope","namespace":"mandate"}})");
  }
}

TEST_F(TokenRequesterTest, CreatesTheNamespaceToleratingItsErrors) {
  options.create_service_account = true;
  for (int ns : {201, 409, 403, 500}) {
    fake.ForgetRequests();
    fake.Expect("POST", kToken, FakeReply::Json(404, ""));
    fake.Expect("POST", kAccounts, FakeReply::Json(404, ""));
    fake.Expect("POST", "/api/v1/namespaces", FakeReply::Json(ns, ""));
    fake.Expect("POST", kAccounts, FakeReply::Json(201, ""));
    fake.Expect("POST", kToken, FakeReply::Json(201, Issued()));
    EXPECT_EQ(Fetch().outcome, FetchOutcome::kIssued) << ns;
    EXPECT_EQ(fake.requests()[2].body,
              R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mandate"}})");
  }
}

TEST_F(TokenRequesterTest, CreatingEndsInOneAttemptWhateverTheServerSays) {
  options.create_service_account = true;
  fake.Handle([](const HttpRequest&) { return FakeReply::Json(404, ""); });
  EXPECT_EQ(Fetch().outcome, FetchOutcome::kNoServiceAccount);
  EXPECT_EQ(fake.requests().size(), 4u);
  fake.ForgetRequests();
  fake.Handle(
      [](const HttpRequest& r) { return FakeReply::Json(r.target == kToken ? 404 : 201, ""); });
  EXPECT_EQ(Fetch().outcome, FetchOutcome::kNoServiceAccount);
  EXPECT_EQ(fake.requests().size(), 3u);
  fake.Handle(
      [](const HttpRequest& r) { return FakeReply::Json(r.target == kToken ? 404 : 403, ""); });
  const FetchResult result = Fetch();
  EXPECT_EQ(result.outcome, FetchOutcome::kCreateServiceAccountForbidden);
  EXPECT_THAT(std::string(result.error.message()), HasSubstr("base may not create ServiceAccount"));
}

TEST_F(TokenRequesterTest, DestructionDropsItsCallback) {
  bool called = false;
  requester = *TokenRequester::Create(options);
  fake.Expect("POST", kToken, FakeReply::Json(201, Issued()).After(absl::Seconds(1)));
  requester->Fetch({}, [&](FetchResult) { called = true; });
  loop.RunReady();
  requester.reset();
  loop.RunFor(absl::Seconds(2));
  EXPECT_FALSE(called);
}

TEST_F(TokenRequesterTest, RejectsLivesThatTheServerRejectsOrExtends) {
  for (absl::Duration life : {absl::Seconds(599), absl::Seconds(3607), absl::Hours(9000)}) {
    options.expiration = life;
    EXPECT_EQ(TokenRequester::Create(options).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(TokenRequesterTest, ErrorsNameMissingOptions) {
  const auto refuses = [this](const std::function<void(TokenRequester::Options&)>& change) {
    TokenRequester::Options changed = options;
    change(changed);
    return absl::IsInvalidArgument(TokenRequester::Create(std::move(changed)).status());
  };
  EXPECT_FALSE(refuses([](auto&) {}));
  EXPECT_TRUE(refuses([](auto& o) { o.loop = nullptr; }));
  EXPECT_TRUE(refuses([](auto& o) { o.transport = nullptr; }));
  EXPECT_TRUE(refuses([](auto& o) { o.endpoint = nullptr; }));
  EXPECT_TRUE(refuses([](auto& o) { o.ns = ""; }));
  EXPECT_TRUE(refuses([](auto& o) { o.service_account = ""; }));
}

// It has no token until it is asked for one.
struct SlowTokenSource : TokenSource {
  explicit SlowTokenSource(Loop& l) : loop(l) {}
  std::shared_ptr<const Token> Cached() override { return nullptr; }
  void Fetch(const CallContext&, Callback done) override {
    loop.Post([done = std::move(done)]() mutable {
      std::move(done)(std::make_shared<const Token>(
          Token{.value = std::make_shared<const Secret>("later"), .subject = "base"}));
    });
  }
  void Invalidate(const Token&) override {}
  Loop& loop;
};

TEST_F(TokenRequesterTest, WaitsForBasesToken) {
  SlowTokenSource slow(loop);
  options.base = &slow;
  fake.Expect("POST", kToken, FakeReply::Json(201, Issued()));
  EXPECT_EQ(Fetch().outcome, FetchOutcome::kIssued);
  EXPECT_EQ(fake.requests()[0].token, "later");
}

}  // namespace
}  // namespace mandate
