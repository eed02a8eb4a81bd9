#include <gmock/gmock.h>

#include "manager/client/component_client.h"
#include "manager/client/testing/client_fixture.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

struct RecordingSink : StreamSink {
  Flow OnOpen(const HttpResponse& head) override {
    EXPECT_FALSE(open) << "opened twice";
    EXPECT_FALSE(closed.has_value());
    EXPECT_EQ(head.code, 200);
    open = true;
    return Flow::kContinue;
  }
  Flow OnData(std::string_view bytes) override {
    EXPECT_FALSE(closed.has_value()) << "data after the end";
    data += bytes;
    if (on_data) on_data();
    return flow;
  }
  void OnClosed(absl::Status status) override {
    EXPECT_FALSE(closed.has_value()) << "closed twice";
    closed = std::move(status);
  }
  bool open = false;
  std::string data;
  std::optional<absl::Status> closed;
  std::function<void()> on_data;
  Flow flow = Flow::kContinue;
};

struct ComponentWatchTest : ClientFixture {
  std::unique_ptr<Stream> Open(std::shared_ptr<RecordingSink> sink) {
    return client().Watch(Get("/api/v1/pods?watch=1"), std::move(sink));
  }
  // A watch that is open and was answered with 200.
  std::unique_ptr<Stream> Watching(std::shared_ptr<RecordingSink> sink) {
    auto handle = Open(sink);
    loop.RunFor(absl::Seconds(1));
    fake.stream(fake.stream_count() - 1).Open();
    loop.RunReady();
    EXPECT_TRUE(sink->open);
    return handle;
  }
  // The end of a watch that the server answers with `code`.
  absl::Status Refused(int code, std::string target = "/api/v1/pods?watch=1") {
    auto refused = std::make_shared<RecordingSink>();
    auto handle = client().Watch(Get(std::move(target)), refused);
    loop.RunFor(absl::Seconds(1));
    FakeStream& stream = fake.stream(fake.stream_count() - 1);
    stream.Open(code);
    stream.Close();
    loop.RunReady();
    return refused->closed.value_or(absl::OkStatus());
  }
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
};

TEST_F(ComponentWatchTest, OpensAsTheComponentAndHandsOnWhatComes) {
  auto handle = Open(sink);
  EXPECT_FALSE(sink->closed.has_value());
  loop.RunFor(absl::Seconds(1));
  ASSERT_EQ(fake.stream_count(), 1u);
  const RecordedRequest& sent = fake.stream(0).request();
  EXPECT_EQ(sent.target, "/api/v1/pods?watch=1");
  EXPECT_EQ(sent.token, "scope-1");
  EXPECT_THAT(sent.user_agent, testing::EndsWith(" scope"));
  fake.stream(0).Open();
  fake.stream(0).Send("one");
  fake.stream(0).Send("two");
  fake.stream(0).Close();
  loop.RunReady();
  EXPECT_EQ(sink->data, "onetwo");
  EXPECT_EQ(sink->closed, absl::OkStatus());
  EXPECT_EQ(Level("watches"), 0);
  EXPECT_EQ(Counted("200", "GET"), 1);
}

TEST_F(ComponentWatchTest, ARefusalIsTheErrorOfTheEnd) {
  auto handle = Open(sink);
  loop.RunFor(absl::Seconds(1));
  fake.stream(0).Open(410);
  fake.stream(0).Send(R"({"kind":"Status","reason":"Expired",)");
  fake.stream(0).Send(R"("message":"too old","code":410})");
  fake.stream(0).Close();
  loop.RunReady();
  EXPECT_FALSE(sink->open);
  EXPECT_EQ(sink->data, "");
  ASSERT_TRUE(sink->closed.has_value());
  EXPECT_TRUE(IsGone(*sink->closed));
  EXPECT_EQ(ApiReason(*sink->closed), "Expired");
}

TEST_F(ComponentWatchTest, TheBodyOfARefusalIsBounded) {
  options.max_error_body = 100;
  int told = 0;
  options.on_forbidden = [&] { ++told; };
  auto handle = Open(sink);
  loop.RunFor(absl::Seconds(1));
  fake.stream(0).Open(403);
  for (int i = 0; i < 10; ++i) fake.stream(0).Send(std::string(30, 'x'));
  loop.RunReady();
  EXPECT_TRUE(fake.stream(0).cancelled());
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(told, 1);
}

TEST_F(ComponentWatchTest, WhatTheGuardRefusesIsNotSent) {
  options.mandate = &kNothing;
  auto handle = Open(sink);
  EXPECT_FALSE(sink->closed.has_value()) << "told inside Watch()";
  loop.RunReady();
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(sink->closed->message()), HasSubstr("verbs=watch"));
  EXPECT_TRUE(fake.requests().empty());
}

TEST_F(ComponentWatchTest, WithoutAnIdentityNothingIsSent) {
  mint_error = FakeReply::Json(403, "");
  auto handle = Open(sink);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(fake.stream_count(), 0u);
}

TEST_F(ComponentWatchTest, WaitsForATokenOnlySoLong) {
  mint_error = FakeReply::Code(500);
  auto handle = Open(sink);
  loop.RunFor(options.token_timeout - absl::Milliseconds(1));
  EXPECT_FALSE(sink->closed.has_value());
  loop.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ComponentWatchTest, ConnectionErrorsAreHandedOn) {
  auto handle = Watching(sink);
  fake.stream(0).Close(absl::UnavailableError("reset"));
  loop.RunReady();
  EXPECT_EQ(sink->closed, absl::UnavailableError("reset"));
}

TEST_F(ComponentWatchTest, DestroyingTheHandleCancelsAndTheSinkHearsOnce) {
  auto handle = Watching(sink);
  handle.reset();
  EXPECT_FALSE(sink->closed.has_value()) << "told inside the destructor";
  EXPECT_TRUE(fake.stream(0).cancelled());
  loop.RunFor(absl::Minutes(1));
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Level("watches"), 0);
}

TEST_F(ComponentWatchTest, DestroyingTheHandleWhileItWaitsForItsToken) {
  auto handle = Open(sink);
  handle.reset();
  loop.RunFor(absl::Minutes(1));
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(fake.stream_count(), 0u);
}

TEST_F(ComponentWatchTest, ADestroyedSinkGetsNothing) {
  auto handle = Watching(sink);
  std::weak_ptr<RecordingSink> weak = sink;
  handle.reset();
  sink.reset();
  EXPECT_TRUE(weak.expired());
  loop.RunFor(absl::Minutes(1));
}

TEST_F(ComponentWatchTest, TheSinkMayDestroyTheHandleOrCancel) {
  auto handle = Watching(sink);
  sink->on_data = [&] { handle.reset(); };
  fake.stream(0).Send("one");
  fake.stream(0).Send("two");
  loop.RunReady();
  EXPECT_EQ(sink->data, "one");
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kCancelled);
  auto other = std::make_shared<RecordingSink>();
  handle = Watching(other);
  other->flow = StreamSink::Flow::kCancel;
  fake.stream(1).Send("one");
  fake.stream(1).Send("two");
  loop.RunReady();
  EXPECT_EQ(other->data, "one");
  EXPECT_EQ(other->closed->code(), absl::StatusCode::kCancelled);
}

// The kill switch: the server authenticates a watch only when it opens, so the first 401 of an
// identity ends those that it opened before.
TEST_F(ComponentWatchTest, AFirst401EndsTheWatchesOfThatTokenAndOlder) {
  auto handle = Watching(sink);
  server = [](const HttpRequest&) { return FakeReply::Json(401, ""); };
  EXPECT_EQ(Send(Get()).status().code(), absl::StatusCode::kUnauthenticated);
  loop.RunReady();
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(fake.stream(0).cancelled());
}

// An extension behind the API server speaks only for itself. Only the API server decides whether
// the token is valid.
TEST_F(ComponentWatchTest, A401OfAnExtensionIsCheckedWithTheApiServer) {
  auto handle = Watching(sink);
  int reviews = 0;
  int review_code = 201;
  server = [&](const HttpRequest& request) {
    if (!request.target.ends_with("/selfsubjectreviews")) return FakeReply::Json(401, "");
    ++reviews;
    EXPECT_EQ(std::get<BearerToken>(request.credential).token->Reveal(), "scope-1");
    return FakeReply::Json(review_code, "{}");
  };
  const RestRequest extension = Get("/apis/things.example.com/v1/things");
  EXPECT_EQ(Send(extension).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Refused(401, "/apis/things.example.com/v1/things?watch=1").code(),
            absl::StatusCode::kUnauthenticated);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(reviews, 2);
  EXPECT_FALSE(sink->closed.has_value());
  EXPECT_EQ(TokenRequests(), 1u);

  review_code = 503;  // nothing is known
  EXPECT_FALSE(Send(extension).ok());
  loop.RunFor(absl::Seconds(1));
  EXPECT_FALSE(sink->closed.has_value());
  review_code = 401;
  EXPECT_FALSE(Send(extension).ok());
  loop.RunFor(absl::Seconds(1));
  ASSERT_TRUE(sink->closed.has_value());
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(reviews, 4);
}

TEST_F(ComponentWatchTest, ManyAnswersOfAnExtensionAreOneQuestion) {
  int reviews = 0;
  server = [&](const HttpRequest& request) {
    if (!request.target.ends_with("/selfsubjectreviews")) return FakeReply::Json(401, "");
    ++reviews;
    return FakeReply::Json(201, "{}").After(absl::Seconds(5));
  };
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(Send(Get("/apis/things.example.com/v1/things")).ok());
  }
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(reviews, 1);
  loop.RunFor(absl::Seconds(10));
  EXPECT_FALSE(Send(Get("/apis/things.example.com/v1/things")).ok());
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(reviews, 2);
}

TEST_F(ComponentWatchTest, A401OfAWatchEndsTheOthers) {
  auto handle = Watching(sink);
  EXPECT_EQ(Refused(401).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kUnauthenticated);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(TokenRequests(), 2u) << "the token was dropped, once";
}

// A client certificate is the credential of every request: there is no token to drop.
TEST_F(ComponentWatchTest, A401ToAClientCertificateEndsAllWatches) {
  struct CertificateIdentity : Identity {
    CertificateIdentity()
        : Identity({.cluster = "local", .name = "scope", .endpoint = EndpointOf()}) {}
    static std::shared_ptr<const Endpoint> EndpointOf() {
      auto endpoint = std::make_shared<Endpoint>();
      endpoint->server = "https://local:6443";
      endpoint->ca_pem = "CA";
      endpoint->client_certificate = {.certificate_pem = "C",
                                      .key_pem = std::make_shared<Secret>("K")};
      return endpoint;
    }
  };
  const CertificateIdentity identity;
  options.identity = &identity;
  auto handle = Watching(sink);
  server = [](const HttpRequest&) { return FakeReply::Json(401, ""); };
  EXPECT_EQ(Send(Get()).status().code(), absl::StatusCode::kUnauthenticated);
  loop.RunReady();
  ASSERT_TRUE(sink->closed.has_value());
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(fake.stream(0).cancelled());
  handle.reset();
  owned.reset();
}

TEST_F(ComponentWatchTest, ALate401ToAnOlderTokenLeavesNewerWatchesAlone) {
  auto handle = Watching(sink);
  // A request that was sent with the first token and is answered after the second came.
  server = [](const HttpRequest&) { return FakeReply::Json(401, "").After(absl::Minutes(55)); };
  std::optional<Result> late;
  options.default_timeout = absl::Hours(2);
  owned.reset();
  loop.RunReady();
  sink = std::make_shared<RecordingSink>();
  client().Send({}, Get(), [&](Result r) { late = std::move(r); });
  loop.RunFor(absl::Minutes(50));
  EXPECT_EQ(TokenRequests(), 2u);
  handle = Watching(sink);
  loop.RunFor(absl::Minutes(10));
  EXPECT_EQ(late->status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_FALSE(sink->closed.has_value());
  EXPECT_EQ(TokenRequests(), 2u);
}

TEST_F(ComponentWatchTest, RenewingATokenLeavesWatchesAlone) {
  auto handle = Watching(sink);
  loop.RunFor(absl::Hours(3));
  EXPECT_GE(TokenRequests(), 4u);
  EXPECT_FALSE(sink->closed.has_value());
  EXPECT_EQ(fake.open_stream_count(), 1u);
}

TEST_F(ComponentWatchTest, DestroyingTheClientEndsItsWatches) {
  auto handle = Watching(sink);
  auto waiting = std::make_shared<RecordingSink>();
  options.identity->tokens()->Invalidate(*options.identity->tokens()->Cached());
  auto second = Open(waiting);
  owned.reset();
  loop.RunFor(absl::Minutes(1));
  EXPECT_EQ(sink->closed->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(waiting->closed->code(), absl::StatusCode::kCancelled);
}

TEST_F(ComponentWatchTest, WatchesAreBounded) {
  options.max_watches = 1;
  auto handle = Watching(sink);
  auto other = std::make_shared<RecordingSink>();
  auto second = Open(other);
  loop.RunReady();
  EXPECT_EQ(other->closed->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(sink->closed.has_value());
  EXPECT_EQ(Level("watches"), 1);
  EXPECT_EQ(Met("watches"), 1);
}

}  // namespace
}  // namespace mandate
