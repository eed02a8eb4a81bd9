#include "testing/apiserver/sim_server.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/watch_frame.h"
#include "testing/apiserver/admin_request.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

class SimServerTest : public ::testing::Test {
 protected:
  absl::StatusOr<HttpResponse> Call(HttpRequest request,
                                    absl::Duration within = absl::Seconds(30)) {
    std::optional<absl::StatusOr<HttpResponse>> result;
    server_.transport().Call({.deadline = loop_.clock().TimeNow() + within, .stop = {}},
                             std::move(request),
                             [&](absl::StatusOr<HttpResponse> got) { result = std::move(got); });
    loop_.RunUntil([&] { return result.has_value(); });
    return *result;
  }

  int Create(const std::string& name) {
    const auto response = Call(AdminRequest(
        "POST", kMaps,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})"));
    return response.ok() ? response->code : 0;
  }

  SimulatedLoop loop_;
  SimServer server_{loop_, {}};
};

// Splits the data of a stream into frames.
class Frames : public StreamSink {
 public:
  Flow OnOpen(const HttpResponse& head) override {
    code = head.code;
    return Flow::kContinue;
  }
  Flow OnData(std::string_view bytes) override {
    text += bytes;
    splitter_.Feed(bytes);
    for (;;) {
      const auto frame = splitter_.Next();
      if (!frame.ok() || !frame->has_value()) return Flow::kContinue;
      if (auto event = ParseWatchEvent(**frame, Encoding::kJson); event.ok()) {
        events.push_back(*std::move(event));
      } else {
        ++garbage;
      }
    }
  }
  void OnClosed(absl::Status status) override { closed = std::move(status); }

  int code = 0;
  std::string text;
  std::vector<WatchEvent> events;
  size_t garbage = 0;  // invalid frames
  std::optional<absl::Status> closed;

 private:
  FrameSplitter splitter_{Encoding::kJson};
};

TEST_F(SimServerTest, FaultSkipsTheExceptedToken) {
  server_.core().faults().Add({.except_bearer = kAdminToken, .fault = {.drop = true}});
  EXPECT_EQ(Create("a"), 201);
  HttpRequest other = AdminRequest("GET", kMaps);
  other.credential = mandate::BearerToken{std::make_shared<Secret>("another")};
  EXPECT_FALSE(Call(std::move(other)).ok());
}

TEST_F(SimServerTest, ServesAndCounts) {
  EXPECT_EQ(Create("a"), 201);
  EXPECT_EQ(Create("a"), 409);
  const auto got = Call(AdminRequest("GET", std::string(kMaps) + "/a"));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->body, HasSubstr(R"("name":"a")"));
  EXPECT_EQ(server_.core().stats().by_verb["create"], 2u);
  EXPECT_EQ(server_.core().stats().requests, 3u);
  EXPECT_EQ(server_.core().stats().open, 0u);
}

TEST_F(SimServerTest, StreamsUntilTheClientCloses) {
  auto sink = std::make_shared<Frames>();
  auto stream =
      server_.transport().Open(AdminRequest("GET", std::string(kMaps) + "?watch=1"), sink);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(server_.core().stats().watches, 1u);
  Create("a");
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(sink->events.size(), 1u);
  EXPECT_EQ(sink->events[0].type, WatchEventType::kAdded);
  stream.reset();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(server_.core().stats().watches, 0u);
}

TEST_F(SimServerTest, OpenWatchOutlivesItsToken) {
  User admin;
  admin.name = "another";
  admin.groups = {"system:masters"};
  Authenticator& authenticator = server_.core().access().authenticator();
  authenticator.SetFixedToken("another", admin);
  const auto request = [](const std::string& target) {
    HttpRequest get = AdminRequest("GET", target);
    get.credential = mandate::BearerToken{std::make_shared<Secret>("another")};
    return get;
  };
  auto sink = std::make_shared<Frames>();
  const auto stream = server_.transport().Open(request(StrCat(kMaps, "?watch=1")), sink);
  loop_.RunFor(absl::Seconds(1));
  authenticator.Revoke("another");
  EXPECT_EQ(Call(request(kMaps))->code, 401);
  Create("a");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(sink->events.size(), 1u);
  EXPECT_FALSE(sink->closed.has_value());
}

TEST_F(SimServerTest, SendsBookmarksInVirtualTime) {
  auto sink = std::make_shared<Frames>();
  const auto stream = server_.transport().Open(
      AdminRequest("GET", std::string(kMaps) + "?watch=1&allowWatchBookmarks=1&timeoutSeconds=200"),
      sink);
  loop_.RunFor(absl::Minutes(4));
  // Bookmarks come after the initial state, each minute, and two seconds before the end.
  EXPECT_EQ(sink->events.size(), 5u);
  EXPECT_TRUE(sink->closed.has_value() && sink->closed->ok());
}

TEST_F(SimServerTest, FaultAnswersWithAnError) {
  server_.core().faults().Add(
      {.verb = "create", .skip = 1, .times = 1, .fault = {.refuse = TooManyRequests("later", 7)}});
  EXPECT_EQ(Create("a"), 201);
  const auto refused = Call(AdminRequest("POST", kMaps, R"({"metadata":{"name":"b"}})"));
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->code, 429);
  EXPECT_EQ(refused->retry_after, absl::Seconds(7));
  EXPECT_EQ(Create("b"), 201);
  EXPECT_EQ(server_.core().faults().struck(), 1u);
}

TEST_F(SimServerTest, FaultMatchesAQueryParameter) {
  server_.core().faults().Add(
      {.verb = "list", .parameter = "continue", .fault = {.refuse = ExpiredError("too old")}});
  for (const auto& [query, code] :
       {std::pair("", 200), {"?limit=5", 200}, {"?limit=5&continue=x", 410}, {"?continue", 410}}) {
    const auto answer = Call(AdminRequest("GET", StrCat(kMaps, query)));
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->code, code) << query;
  }
}

TEST_F(SimServerTest, FaultLosesAnswersAndConnections) {
  server_.core().faults().Add({.verb = "create", .times = 1, .fault = {.lose_answer = true}});
  EXPECT_EQ(Create("a"), 0);
  EXPECT_EQ(Create("a"), 409);  // the server had processed the lost request
  server_.core().faults().Add({.verb = "create", .times = 1, .fault = {.drop = true}});
  EXPECT_EQ(Create("b"), 0);
  EXPECT_EQ(Create("b"), 201);
  server_.core().faults().Add({.verb = "get", .times = 1, .fault = {.ignore = true}});
  const auto none = Call(AdminRequest("GET", std::string(kMaps) + "/a"));
  EXPECT_TRUE(absl::IsDeadlineExceeded(none.status()));
}

TEST_F(SimServerTest, FaultEndsCutsAndSlowsStreams) {
  const struct {
    Fault fault;
    size_t events;
    std::optional<absl::StatusCode> closed;
  } kCases[] = {
      {{.end_after = 2}, 2, absl::StatusCode::kOk},
      {{.end_after = 2, .error_event = ExpiredError("too old")}, 3, absl::StatusCode::kOk},
      {{.end_after = 2, .cut = true}, 2, absl::StatusCode::kUnavailable},
      {{.stall_after = 1}, 1, std::nullopt},
      {{.frame_delay = absl::Seconds(10)}, 3, std::nullopt},
  };
  for (int i = 0; i < 4; ++i) Create(StrCat("m", i));
  for (const auto& c : kCases) {
    server_.core().faults().Add({.verb = "watch", .times = 1, .fault = c.fault});
    auto sink = std::make_shared<Frames>();
    const auto stream =
        server_.transport().Open(AdminRequest("GET", std::string(kMaps) + "?watch=1"), sink);
    loop_.RunFor(absl::Seconds(25));
    EXPECT_EQ(sink->events.size(), c.events);
    EXPECT_EQ(sink->closed.has_value(), c.closed.has_value());
    if (c.closed && sink->closed) {
      EXPECT_EQ(sink->closed->code(), *c.closed);
    }
  }
}

TEST_F(SimServerTest, FaultSendsInvalidFrames) {
  for (int i = 0; i < 4; ++i) Create(StrCat("m", i));
  server_.core().faults().Add({.verb = "watch", .fault = {.garbage = 1}});
  auto sink = std::make_shared<Frames>();
  const auto stream =
      server_.transport().Open(AdminRequest("GET", std::string(kMaps) + "?watch=1"), sink);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(sink->events.size(), 4u);
  EXPECT_EQ(sink->garbage, 4u);
}

TEST_F(SimServerTest, FaultDropsAndDelaysBookmarks) {
  const auto watch = [&](Fault fault) {
    server_.core().faults().Add({.verb = "watch", .times = 1, .fault = fault});
    auto sink = std::make_shared<Frames>();
    const auto stream = server_.transport().Open(
        AdminRequest("GET", StrCat(kMaps, "?watch=1&allowWatchBookmarks=1&timeoutSeconds=150",
                                   "&resourceVersion=", server_.core().store().revision())),
        sink);
    loop_.RunFor(absl::Seconds(70));
    Create(StrCat("x", server_.core().store().revision()));
    loop_.RunFor(absl::Seconds(10));
    return sink;
  };
  EXPECT_EQ(watch({.drop_bookmarks = 1})->events.back().type, WatchEventType::kAdded);
  const auto late = watch({.late_bookmarks = true});
  // The late bookmark comes after the next event, so its resourceVersion is lower.
  ASSERT_GE(late->events.size(), 2u);
  EXPECT_EQ(late->events.back().type, WatchEventType::kBookmark);
  EXPECT_LT(std::stoll(late->events.back().resource_version),
            std::stoll(late->events[late->events.size() - 2].resource_version));
}

TEST(SimServerDefinitionsTest, WarnsOfUncheckedSchemas) {
  const auto warning = [](const std::string& schema) {
    SimOptions options;
    options.core.objects = {StrCat(
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
        R"("metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","scope":"Cluster",)"
        R"("names":{"kind":"Foo","plural":"foos"},"versions":[{"name":"v1","served":true,)"
        R"("storage":true,"schema":{"openAPIV3Schema":)",
        schema, "}}]}}")};
    SimulatedLoop loop;
    testing::internal::CaptureStderr();
    const SimServer server(loop, options);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(warning(R"({"type":"object"})"), "");
  EXPECT_EQ(warning(R"({"type":"object","x-kubernetes-validations":[{"rule":"true"}]})"),
            "warning: foos.example.com is loaded anyway: the double does not serve schemas "
            "with x-kubernetes-validations; run this against a real API server (hack/cluster)\n");
}

}  // namespace
}  // namespace mandate::apiserver
