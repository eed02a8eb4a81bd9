#include "testing/apiserver/access/audit_event.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/status_response.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;

const absl::Time kReceived = absl::FromUnixMicros(1'700'000'000'123'456);

Request Sent(std::string method, std::string target, std::string body = "") {
  Request request =
      Request::Parse(std::move(method), std::move(target), {}, std::move(body)).value();
  request.received = kReceived;
  request.user.name = "jane";
  request.notes->annotations["authorization.k8s.io/decision"] = "allow";
  return request;
}

Json::Value EventOf(const Request& request) {
  return AuditEvent(request, "id", "ResponseComplete", kReceived, ParseJson("{}").value());
}

std::string RefOf(const Request& request) { return WriteJson(EventOf(request)["objectRef"]); }

TEST(AuditEventTest, IsTheServersFieldByField) {
  Request request =
      Sent("PUT", "/apis/apps/v1/namespaces/shop/deployments/web/status?dryRun=All",
           R"({"metadata":{"name":"web","namespace":"shop","uid":"u1","resourceVersion":"7"}})");
  request.headers = {{"user-agent", "probe/1"}};
  request.user.uid = "jane-1";
  request.user.groups = {"dev"};
  request.user.extra["authentication.kubernetes.io/credential-id"] = {"JTI=1"};
  request.notes->annotations["authorization.k8s.io/reason"] = "RBAC: because";
  Json::Value status;
  status["code"] = 200;
  EXPECT_EQ(
      WriteJson(AuditEvent(request, "id-1", "ResponseComplete", kReceived + absl::Milliseconds(2),
                           status)),
      R"({"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":)"
      R"("RBAC: because"},"apiVersion":"audit.k8s.io/v1","auditID":"id-1","kind":"Event",)"
      R"("level":"Metadata","objectRef":{"apiGroup":"apps","apiVersion":"v1","name":"web",)"
      R"("namespace":"shop","resource":"deployments","resourceVersion":"7","subresource":)"
      R"("status","uid":"u1"},"requestReceivedTimestamp":"2023-11-14T22:13:20.123456Z",)"
      R"("requestURI":"/apis/apps/v1/namespaces/shop/deployments/web/status?dryRun=All",)"
      R"("responseStatus":{"code":200},"sourceIPs":["127.0.0.1"],"stage":"ResponseComplete",)"
      R"("stageTimestamp":"2023-11-14T22:13:20.125456Z","user":{"extra":)"
      R"({"authentication.kubernetes.io/credential-id":["JTI=1"]},"groups":["dev"],"uid":"jane-1",)"
      R"("username":"jane"},"userAgent":"probe/1","verb":"update"})");
}

TEST(AuditEventTest, TheObjectIsThatOfThePathThenOfTheBody) {
  struct Case {
    std::string method, target, body, ref;
  };
  const Case cases[] = {
      {"GET", "/api/v1/namespaces/shop", "",
       R"({"apiVersion":"v1","name":"shop","namespace":"shop","resource":"namespaces"})"},
      {"GET", "/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dx", "",
       R"({"apiVersion":"v1","name":"x","namespace":"shop","resource":"pods"})"},
      {"POST", "/api/v1/namespaces", R"({"metadata":{"name":"shop"}})",
       R"({"apiVersion":"v1","name":"shop","resource":"namespaces"})"},
      {"POST", "/api/v1/namespaces/shop/configmaps", R"({"metadata":{"generateName":"a-"}})",
       R"({"apiVersion":"v1","namespace":"shop","resource":"configmaps"})"},
      {"POST", "/api/v1/namespaces/shop/configmaps", "{",
       R"({"apiVersion":"v1","namespace":"shop","resource":"configmaps"})"},
      {"PATCH", "/api/v1/namespaces/shop/configmaps/a", R"({"metadata":{"uid":"u"}})",
       R"({"apiVersion":"v1","name":"a","namespace":"shop","resource":"configmaps"})"},
      {"DELETE", "/api/v1/namespaces/shop/configmaps/a", R"({"preconditions":{"uid":"u"}})",
       R"({"apiVersion":"v1","name":"a","namespace":"shop","resource":"configmaps"})"},
      {"POST", "/api/v1/namespaces/shop/serviceaccounts/a/token", R"({"metadata":{"uid":"u"}})",
       R"({"apiVersion":"v1","name":"a","namespace":"shop","resource":"serviceaccounts",)"
       R"("subresource":"token","uid":"u"})"},
      {"GET", "/version", "", "null"},
  };
  for (const Case& c : cases) EXPECT_EQ(RefOf(Sent(c.method, c.target, c.body)), c.ref) << c.target;
}

TEST(AuditEventTest, ReadsProtobufBodies) {
  // ObjectMeta{name: "a", namespace: "shop", uid: "u"} as an object's first field.
  const std::string meta("\x0a\x01\x61\x1a\x04shop\x2a\x01u", 12);
  const std::string raw = "\x0a\x0c" + meta;
  const Request request =
      Sent("POST", "/api/v1/namespaces/shop/configmaps",
           WriteEnvelope({.api_version = "v1", .kind = "ConfigMap", .raw = raw}));
  EXPECT_EQ(
      RefOf(request),
      R"({"apiVersion":"v1","name":"a","namespace":"shop","resource":"configmaps","uid":"u"})");
}

TEST(AuditEventTest, WhatIsRefusedTellsOnlyItsPath) {
  Request request =
      Sent("POST", "/api/v1/namespaces/shop/configmaps", R"({"metadata":{"name":"a"}})");
  request.notes->annotations["authorization.k8s.io/decision"] = "forbid";
  EXPECT_EQ(RefOf(request), R"({"apiVersion":"v1","namespace":"shop","resource":"configmaps"})");
  request.notes->annotations.clear();
  request.user = User();
  const Json::Value event = EventOf(request);
  EXPECT_EQ(WriteJson(event["user"]), "{}");
  EXPECT_FALSE(event.isMember("annotations"));
}

TEST(AuditEventTest, AUserAgentIsCut) {
  Request request = Sent("GET", "/version");
  EXPECT_FALSE(EventOf(request).isMember("userAgent"));
  request.headers = {{"user-agent", std::string(1024, 'a')}};
  EXPECT_EQ(EventOf(request)["userAgent"].asString(), std::string(1024, 'a'));
  request.headers = {{"user-agent", std::string(1025, 'a')}};
  EXPECT_EQ(EventOf(request)["userAgent"].asString(), std::string(1024, 'a') + "...TRUNCATED");
}

TEST(AuditEventTest, AddressesAreThoseClaimedThenTheSenders) {
  Request request;
  EXPECT_THAT(SourceIps(request), ElementsAre("127.0.0.1"));
  request.headers = {{"x-forwarded-for", "1.2.3.4, nonsense, ::1"}, {"x-real-ip", "9.9.9.9"}};
  EXPECT_THAT(SourceIps(request), ElementsAre("1.2.3.4", "::1", "9.9.9.9", "127.0.0.1"));
  request.headers = {{"x-forwarded-for", "1.2.3.4"}, {"x-real-ip", "1.2.3.4"}};
  EXPECT_THAT(SourceIps(request), ElementsAre("1.2.3.4", "127.0.0.1"));
  request.headers = {{"x-forwarded-for", "1.2.3.4,127.0.0.1"}};
  EXPECT_THAT(SourceIps(request), ElementsAre("1.2.3.4", "127.0.0.1"));
}

TEST(ResponseStatusTest, IsTheCodeOrTheStatusThatWasAnswered) {
  EXPECT_EQ(WriteJson(ResponseStatus({.code = 201, .headers = {}, .body = R"({"kind":"Pod"})"})),
            R"({"code":201,"metadata":{}})");
  EXPECT_EQ(WriteJson(ResponseStatus(
                {.code = 200,
                 .headers = {},
                 .body = R"({"kind":"Status","status":"Success","details":{"name":"a"}})"})),
            R"({"code":200,"details":{"name":"a"},"metadata":{},"status":"Success"})");
  constexpr char kNotFound[] =
      R"({"code":404,"details":{"kind":"pods","name":"a"},"message":"pods \"a\" not found",)"
      R"("metadata":{},"reason":"NotFound","status":"Failure"})";
  Request request;
  const absl::Status status = NotFoundError({.group = "", .resource = "pods"}, "a");
  EXPECT_EQ(WriteJson(ResponseStatus(StatusResponse(status, request))), kNotFound);
  request.headers = {{"accept", "application/vnd.kubernetes.protobuf"}};
  const Response protobuf = StatusResponse(status, request);
  ASSERT_TRUE(HasEnvelope(protobuf.body));
  EXPECT_EQ(WriteJson(ResponseStatus(protobuf)), kNotFound);
}

}  // namespace
}  // namespace mandate::apiserver
