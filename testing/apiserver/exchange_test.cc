#include "testing/apiserver/exchange.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/api_error.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/negotiation.h"
#include "testing/apiserver/testing/recorded_exchange.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;

Request Get(std::string target, Headers headers = {}) {
  return Request::Parse("GET", std::move(target), std::move(headers), "").value();
}

TEST(RequestTest, ParsesTargetAndAttributes) {
  const Request request =
      Get("/api/v1/namespaces/a%2Db/pods?fieldSelector=x%3D1&watch=1&watch=0&empty");
  EXPECT_EQ(request.path, "/api/v1/namespaces/a-b/pods");
  EXPECT_EQ(request.Query("fieldSelector"), "x=1");
  EXPECT_EQ(request.Query("watch"), "1");
  EXPECT_EQ(request.Query("empty"), "");
  EXPECT_EQ(request.Query("none"), std::nullopt);
  EXPECT_EQ(request.attributes.verb, "watch");
  EXPECT_EQ(request.attributes.ns, "a-b");
  EXPECT_FALSE(Request::Parse("GET", "/%zz", {}, "").ok());
}

TEST(ExchangeTest, RespondsOnceAndCallsObservers) {
  auto exchange = std::make_shared<RecordedExchange>(Get("/version"));
  std::vector<std::string> order;
  exchange->OnAnswer([&](Response& response) {
    order.push_back("answer " + std::to_string(response.code));
    response.headers.emplace_back("audit-id", "1");
  });
  exchange->OnClosed([&] { order.push_back("closed"); });
  exchange->Respond({.code = 201, .headers = {}, .body = "a"});
  exchange->Respond({.code = 500, .headers = {}, .body = "b"});
  exchange->Send("c");
  EXPECT_EQ(exchange->head().code, 201);
  EXPECT_EQ(exchange->head().headers.size(), 1u);
  EXPECT_EQ(exchange->body(), "a");
  EXPECT_THAT(order, ElementsAre("answer 201", "closed"));
}

TEST(ExchangeTest, StreamsUntilTheClientCloses) {
  auto exchange = std::make_shared<RecordedExchange>(Get("/api/v1/pods?watch=1"));
  int closed = 0;
  exchange->OnClosed([&] { ++closed; });
  exchange->Open({});
  exchange->Send("1");
  exchange->Send("2");
  exchange->MarkGone();
  exchange->Send("3");
  exchange->End();
  EXPECT_EQ(exchange->body(), "12");
  EXPECT_EQ(closed, 1);
}

TEST(NegotiationTest, FollowsTheAcceptHeader) {
  const struct {
    const char* accept;
    bool protobuf;
    std::optional<Encoding> expected;
  } kCases[] = {
      {"application/json", true, Encoding::kJson},
      {"*/*", true, Encoding::kJson},
      {"", true, Encoding::kJson},
      {"application/vnd.kubernetes.protobuf,application/json", true, Encoding::kProtobuf},
      {"application/vnd.kubernetes.protobuf, application/json", false, Encoding::kJson},
      {"application/vnd.kubernetes.protobuf", false, std::nullopt},
      {"application/json;q=0.1,application/vnd.kubernetes.protobuf", true, Encoding::kProtobuf},
      {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", true, Encoding::kJson},
      {"text/html", true, std::nullopt},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(AcceptedEncoding(Get("/", {{"accept", c.accept}}), c.protobuf), c.expected)
        << c.accept;
  }
  EXPECT_EQ(AcceptedEncoding(Get("/")), Encoding::kJson);
}

TEST(NegotiationTest, RejectsUnsupportedContentTypes) {
  EXPECT_EQ(*BodyEncoding(Get("/", {{"content-type", "application/json; charset=utf-8"}})),
            Encoding::kJson);
  EXPECT_EQ(HttpCode(BodyEncoding(Get("/", {{"content-type", "text/plain"}})).status()), 415);
  const auto protobuf = Get("/", {{"content-type", "application/vnd.kubernetes.protobuf"}});
  EXPECT_EQ(*BodyEncoding(protobuf), Encoding::kProtobuf);
  EXPECT_EQ(HttpCode(BodyEncoding(protobuf, false).status()), 501) << "of a custom resource";
  EXPECT_EQ(HttpCode(BodyEncoding(Get("/", {{"content-type", "application/yaml"}})).status()), 501);
}

TEST(ErrorsTest, EncodesStatusAsTheServerDoes) {
  auto exchange = std::make_shared<RecordedExchange>(Get("/"));
  exchange->Fail(NotFoundError({"rbac.authorization.k8s.io", "roles"}, "x"));
  EXPECT_EQ(exchange->head().code, 404);
  EXPECT_EQ(exchange->body(),
            R"({"apiVersion":"v1","kind":"Status","metadata":{},"status":"Failure",)"
            R"("message":"roles.rbac.authorization.k8s.io \"x\" not found","reason":"NotFound",)"
            R"("details":{"name":"x","group":"rbac.authorization.k8s.io","kind":"roles"},)"
            R"("code":404})");

  auto busy = std::make_shared<RecordedExchange>(Get("/"));
  busy->Fail(TooManyRequests("later", 7));
  EXPECT_THAT(busy->head().headers, ElementsAre(std::pair("content-type", "application/json"),
                                                std::pair("retry-after", "7")));
}

TEST(ErrorsTest, ListsSeveralCauses) {
  const absl::Status status = InvalidError("apps", "Deployment", "x",
                                           {RequiredField("a", "why"), InvalidField("b", "1", "")});
  EXPECT_EQ(ApiStatus(status)->message(),
            "Deployment.apps \"x\" is invalid: [a: Required value: why, b: Invalid value: 1]");
  EXPECT_EQ(ApiStatus(status)->details().causes_size(), 2);
}

}  // namespace
}  // namespace mandate::apiserver
