#include "manager/client/component_client.h"

#include <gmock/gmock.h>

#include <vector>

#include "manager/client/testing/client_fixture.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

struct ComponentClientTest : ClientFixture {
  void RejectFirstToken(int code, std::string body) {
    server = [code, body = std::move(body)](const HttpRequest& request) {
      const bool first = std::get<BearerToken>(request.credential).token->Reveal() == "scope-1";
      return first ? FakeReply::Json(code, body) : FakeReply::Json(200, "");
    };
  }
};

TEST_F(ComponentClientTest, SendsAsTheComponentAndOnlyAsIt) {
  RestRequest request = Post();
  request.method = "PATCH";
  request.target += "/web";
  request.content_type = "application/merge-patch+json";
  request.accept = "application/vnd.kubernetes.protobuf";
  ASSERT_TRUE(Send(request).ok());
  ASSERT_EQ(Sent(), 1u);
  const RecordedRequest& sent = fake.requests().back();
  EXPECT_EQ(sent.method, "PATCH");
  EXPECT_EQ(sent.target, "/api/v1/namespaces/foo/pods/web");
  EXPECT_EQ(sent.token, "scope-1");
  EXPECT_THAT(sent.user_agent,
              testing::MatchesRegex(R"(mandate-manager/1 \(linux/[a-z0-9]+\) scope)"));
  EXPECT_EQ(sent.content_type, "application/merge-patch+json");
  EXPECT_EQ(sent.accept, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(sent.body, "{}");
  EXPECT_TRUE(sent.headers.empty());
  ASSERT_TRUE(Send(Get()).ok());
  EXPECT_EQ(fake.requests().back().content_type, "");
  EXPECT_EQ(TokenRequests(), 1u);
  EXPECT_EQ(Counted("200", "PATCH"), 1);
  EXPECT_EQ(Counted("200", "GET"), 1);
}

TEST_F(ComponentClientTest, AMandateOfAnotherComponentIsRefused) {
  static constexpr rbac::Mandate kOther = {.component = "other", .rules = kEverythingRules};
  options.mandate = &kOther;
  EXPECT_EQ(ComponentClient::Create(options).status().message(),
            "the mandate of other is not for the identity of scope");
}

TEST_F(ComponentClientTest, WhatTheGuardRefusesIsNotSent) {
  options.mandate = &kNothing;
  const Result result = Send(Get());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("groups=core,resources=pods,verbs=get"));
  EXPECT_TRUE(fake.requests().empty()) << "not even a token was asked for";
}

TEST_F(ComponentClientTest, TheGuardKnowsAnApplyByItsContentType) {
  static constexpr std::string_view kPatch[] = {"patch"};
  static constexpr std::string_view kCore[] = {""};
  static constexpr std::string_view kPods[] = {"pods"};
  static constexpr rbac::MandateRule kRules[] = {{.rule = {kPatch, kCore, kPods, {}, {}}}};
  static constexpr rbac::Mandate kPatches = {.component = "scope", .rules = kRules};
  options.mandate = &kPatches;
  RestRequest request = Post();
  request.method = "PATCH";
  request.target += "/web";
  request.content_type = "application/merge-patch+json";
  EXPECT_TRUE(Send(request).ok());
  request.content_type = "application/apply-patch+yaml";
  EXPECT_EQ(Send(request).status().code(), absl::StatusCode::kPermissionDenied)
      << "it may create the object";
  EXPECT_EQ(Sent(), 1u);
}

TEST_F(ComponentClientTest, WithoutAnIdentityNothingIsSent) {
  mint_error = FakeReply::Json(404, "");
  const Result result = Send(Get());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("kind: ServiceAccount"));
  EXPECT_EQ(Sent(), 0u);
}

struct ErrorCase {
  int code;
  absl::StatusCode status;
};

TEST_F(ComponentClientTest, AnswersBecomeErrorsWithTheServersStatus) {
  for (const ErrorCase& c : {ErrorCase{400, absl::StatusCode::kInvalidArgument},
                             {403, absl::StatusCode::kPermissionDenied},
                             {404, absl::StatusCode::kNotFound},
                             {409, absl::StatusCode::kAborted},
                             {410, absl::StatusCode::kOutOfRange},
                             {422, absl::StatusCode::kInvalidArgument},
                             {500, absl::StatusCode::kInternal},
                             {503, absl::StatusCode::kUnavailable}}) {
    server = [&](const HttpRequest&) {
      return FakeReply::Json(c.code, StrCat(R"({"kind":"Status","message":"why","code":)", c.code,
                                            R"(,"details":{"name":"web"}})"));
    };
    fake.ForgetRequests();
    const Result result = Send(Get());
    EXPECT_EQ(result.status().code(), c.status) << c.code;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("why"));
    EXPECT_EQ(HttpCode(result.status()), c.code);
    EXPECT_EQ(ApiStatus(result.status())->details().name(), "web");
    EXPECT_EQ(Sent(), 1u) << c.code << " is not sent again";
    EXPECT_EQ(Counted(std::to_string(c.code), "GET"), 1);
  }
}

TEST_F(ComponentClientTest, A401DropsTheTokenAndIsNotReplayed) {
  RejectFirstToken(401, "");
  EXPECT_EQ(Send(Get()).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Sent(), 1u);
  EXPECT_TRUE(Send(Get()).ok());
  EXPECT_EQ(fake.requests().back().token, "scope-2");
}

TEST_F(ComponentClientTest, A403AsAnonymousIsALostCredential) {
  RejectFirstToken(
      403, R"({"kind":"Status","reason":"Forbidden","code":403,)"
           R"("message":"pods \"web\" is forbidden: User \"system:anonymous\" cannot get resource )"
           R"(\"pods\" in API group \"\" in the namespace \"foo\"",)"
           R"("details":{"name":"web","kind":"pods"}})");
  const Result result = Send(Get());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(HttpCode(result.status()), 403);
  EXPECT_TRUE(Send(Get()).ok());
  EXPECT_EQ(fake.requests().back().token, "scope-2");
}

TEST_F(ComponentClientTest, AWebhooks401IsADenialThatLeavesTheTokenAlone) {
  server = [](const HttpRequest&) {
    return FakeReply::Json(
        401, R"({"kind":"Status","reason":"Unauthorized","code":401,)"
             R"("message":"admission webhook \"a.example.com\" denied the request: no"})");
  };
  const Result result = Send(Get());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(HttpCode(result.status()), 401);
  EXPECT_EQ(Send(Get()).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(fake.requests().back().token, "scope-1");
}

TEST_F(ComponentClientTest, TellsOfA403ToWhatItsMarkersPromise) {
  static constexpr std::string_view kGet[] = {"get"};
  static constexpr std::string_view kCore[] = {""};
  static constexpr std::string_view kPods[] = {"pods"};
  static constexpr std::string_view kNodes[] = {"nodes"};
  static constexpr rbac::MandateRule kRules[] = {
      {.rule = {kGet, kCore, kPods, {}, {}}, .ns = "foo"},
      {.rule = {kGet, kCore, kNodes, {}, {}}, .ns = "", .external = true}};
  static constexpr rbac::Mandate kTwo = {.component = "scope", .rules = kRules};
  const struct {
    const char* name;
    RestRequest request;
    int code;
    bool told;
  } rows[] = {
      {"declared", Get(), 403, true},
      {"declared, and of a subresource that is not", Get("/api/v1/namespaces/foo/pods/web/log"),
       403, false},
      {"of another namespace", Get("/api/v1/namespaces/bar/pods/web"), 403, false},
      {"granted by others", Get("/api/v1/nodes/n"), 403, false},
      {"everyone may", Get("/version"), 403, true},
      {"another answer", Get(), 404, false},
  };
  int told = 0;
  options.mandate = &kTwo;
  options.guard = GuardMode::kWarn;
  options.on_forbidden = [&] { ++told; };
  for (const auto& row : rows) {
    told = 0;
    server = [&](const HttpRequest&) { return FakeReply::Json(row.code, "{}"); };
    EXPECT_FALSE(Send(row.request).ok()) << row.name;
    EXPECT_EQ(told, row.told ? 1 : 0) << row.name;
  }
}

TEST_F(ComponentClientTest, ReportsWritesOfRbacObjectsInNamespaces) {
  constexpr char kBindings[] = "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings";
  struct {
    const char* method;
    std::string target;
    int code;
    const char* told;
  } rows[] = {
      {"POST", kBindings, 201, "foo"},
      {"PATCH", StrCat(kBindings, "/x?fieldManager=y"), 200, "foo"},
      {"DELETE", "/apis/rbac.authorization.k8s.io/v1/namespaces/bar/roles/x", 200, "bar"},
      {"POST", kBindings, 409, ""},
      {"GET", kBindings, 200, ""},
      {"POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", 201, ""},
      {"POST", "/api/v1/namespaces/foo/pods", 201, ""},
  };
  std::string told;
  options.guard = GuardMode::kOff;
  options.on_rbac_write = [&](std::string_view ns) { told += ns; };
  for (const auto& row : rows) {
    told.clear();
    server = [&](const HttpRequest&) { return FakeReply::Json(row.code, "{}"); };
    (void)Send({.method = row.method, .target = row.target, .body = ""});
    EXPECT_EQ(told, row.told) << row.method << " " << row.target;
  }
}

TEST_F(ComponentClientTest, AnOrdinary403KeepsTheToken) {
  for (
      const char* message :
      {R"(User \"system:serviceaccount:m:s\" cannot get pods)",
       R"(pods \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: )"
       R"(forbidden: User \"system:anonymous\" cannot be bound)"}) {
    server = [message](const HttpRequest&) {
      return FakeReply::Json(
          403, StrCat(R"({"kind":"Status","reason":"Forbidden","code":403,)",
                      R"("details":{"name":"web","kind":"pods"},"message":")", message, R"("})"));
    };
    EXPECT_EQ(Send(Get()).status().code(), absl::StatusCode::kPermissionDenied) << message;
    EXPECT_EQ(Send(Get()).status().code(), absl::StatusCode::kPermissionDenied) << message;
  }
  EXPECT_EQ(TokenRequests(), 1u);
}

TEST_F(ComponentClientTest, ABodyGoesToItsSinkAndBeginsAgainWithEachAnswer) {
  struct Sink : BodySink {
    void OnHeaders(const HttpResponse&) override { text += "|"; }
    absl::Status OnBody(std::string_view bytes) override {
      text += bytes;
      return text == "|first" ? absl::UnavailableError("cut") : absl::OkStatus();
    }
    std::string text;
  };
  const auto sink = std::make_shared<Sink>();
  int sent = 0;
  server = [&](const HttpRequest&) {
    if (++sent == 2) return Busy(429, absl::Seconds(1));
    return FakeReply::Json(200, sent == 1 ? "first" : "second");
  };
  RestRequest request = Get();
  request.body_sink = sink;
  const Result result = Send(std::move(request));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->body, "");
  EXPECT_EQ(sink->text, "|first|second");
}

TEST_F(ComponentClientTest, EndsAtItsDeadlineAtWhateverStage) {
  server = [](const HttpRequest&) { return FakeReply::Never(); };
  EXPECT_EQ(Send(Get(), absl::Seconds(7)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(took, absl::Seconds(7));
  mint_error = FakeReply::Never();
  plane->Status(**plane->Component("local", "scope"));
  options.identity->tokens()->Invalidate(*options.identity->tokens()->Cached());
  EXPECT_EQ(Send(Get(), absl::Seconds(7)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(took, absl::Seconds(7));
  EXPECT_EQ(Level("in_flight"), 0);
}

TEST_F(ComponentClientTest, ACallWithoutADeadlineHasOneAllTheSame) {
  server = [](const HttpRequest&) { return FakeReply::Never(); };
  EXPECT_EQ(Send(Get(), absl::InfiniteDuration()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(took, options.default_timeout);
}

TEST_F(ComponentClientTest, EndsWhenStopped) {
  server = [](const HttpRequest&) { return FakeReply::Never(); };
  std::stop_source stop;
  std::optional<Result> result;
  client().Send({.stop = stop.get_token()}, Get(), [&](Result r) { result = std::move(r); });
  loop.RunReady();
  EXPECT_FALSE(result.has_value());
  stop.request_stop();
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Level("in_flight"), 0);
  fake.ForgetRequests();
  client().Send({.stop = stop.get_token()}, Get(), [&](Result r) { result = std::move(r); });
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(fake.requests().empty()) << "the stop came first";
}

TEST_F(ComponentClientTest, RequestsInFlightAndWaitingAreBounded) {
  options.max_in_flight = 2;
  options.max_queued = 3;
  server = [](const HttpRequest&) { return FakeReply::Json(200, "").After(absl::Seconds(1)); };
  ASSERT_TRUE(Send(Get()).ok());
  fake.ForgetRequests();
  std::vector<absl::StatusCode> codes;
  for (int i = 0; i < 7; ++i) {
    client().Send(In(absl::Minutes(1)), Get(),
                  [&](Result r) { codes.push_back(r.status().code()); });
  }
  loop.RunReady();
  EXPECT_EQ(Level("in_flight"), 2);
  EXPECT_EQ(Level("queue"), 3);
  EXPECT_EQ(fake.requests().size(), 2u);
  EXPECT_THAT(codes, testing::ElementsAre(absl::StatusCode::kResourceExhausted,
                                          absl::StatusCode::kResourceExhausted));
  loop.RunFor(absl::Seconds(10));
  EXPECT_EQ(Level("in_flight"), 0);
  EXPECT_EQ(Level("queue"), 0);
  EXPECT_EQ(Met("in_flight"), 3);
  EXPECT_EQ(Met("queue"), 2);
  EXPECT_EQ(fake.requests().size(), 5u);
  EXPECT_EQ(std::count(codes.begin(), codes.end(), absl::StatusCode::kOk), 5);
}

TEST_F(ComponentClientTest, AQueuedCallEndsAtItsDeadlineWithoutBeingSent) {
  options.max_in_flight = 1;
  server = [](const HttpRequest&) { return FakeReply::Json(200, "").After(absl::Seconds(30)); };
  client().Send(In(absl::Minutes(1)), Get(), [](Result) {});
  EXPECT_EQ(Send(Get(), absl::Seconds(5)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Level("queue"), 0);
  EXPECT_EQ(Sent(), 1u);
}

TEST_F(ComponentClientTest, DestroyedItEndsItsCalls) {
  server = [](const HttpRequest&) { return FakeReply::Never(); };
  std::vector<absl::StatusCode> codes;
  const auto record = [&](Result r) { codes.push_back(r.status().code()); };
  client().Send(In(absl::Minutes(1)), Get(), record);
  loop.RunReady();
  client().Send(In(absl::Minutes(1)), Get(), record);
  owned.reset();
  loop.RunFor(absl::Minutes(2));
  EXPECT_THAT(codes,
              testing::ElementsAre(absl::StatusCode::kCancelled, absl::StatusCode::kCancelled));
}

TEST_F(ComponentClientTest, ACallerMayDestroyItFromItsCallback) {
  bool called = false;
  client().Send({}, Get(), [&](Result) {
    owned.reset();
    called = true;
  });
  client().Send({}, Get(), [&](Result) {});
  loop.RunFor(absl::Minutes(2));
  EXPECT_TRUE(called);
}

TEST_F(ComponentClientTest, DoBlocksOnALoopThatRuns) {
  EXPECT_TRUE(client().Do(In(absl::Seconds(1)), Get()).ok());
}

TEST_F(ComponentClientTest, TransportErrorsNameTheRequestAndTheComponent) {
  server = [](const HttpRequest&) {
    return FakeReply::Error(absl::UnavailableError("connection refused"));
  };
  RestRequest request = Post();
  request.target += "?continue=secret";
  EXPECT_EQ(Send(std::move(request)).status().message(),
            "POST /api/v1/namespaces/foo/pods?continue=*** as scope: connection refused");
  EXPECT_EQ(Counted("<error>", "POST"), 1);
}

}  // namespace
}  // namespace mandate
