#include "testing/apiserver/access/audit_log.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/testing/recorded_exchange.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AuditLogTest : public ::testing::Test {
 protected:
  AuditOptions Options() {
    AuditOptions options;
    options.sink = [this](std::string line) {
      const Json::Value event = ParseJson(line).value();
      lines_.push_back(StrCat(event["auditID"].asString(), " ", event["stage"].asString(), " ",
                              event["responseStatus"]["code"].asInt()));
    };
    return options;
  }
  std::shared_ptr<RecordedExchange> Pass(AuditLog& log, std::string target, Headers headers = {}) {
    auto exchange = std::make_shared<RecordedExchange>(
        Request::Parse("GET", std::move(target), std::move(headers), "").value());
    log.Watch(exchange);
    exchange->request().user.name = "jane";
    log.Received(*exchange);
    return exchange;
  }
  static std::string Header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  SimulatedClock clock_;
  std::vector<std::string> lines_;
  int ids_ = 0;
  std::function<std::string()> new_uid_ = [this] { return StrCat("id-", ++ids_); };
};

TEST_F(AuditLogTest, WritesTheEndOfEveryRequest) {
  AuditLog log(Options(), clock_, new_uid_);
  const auto exchange = Pass(log, "/api/v1/pods");
  EXPECT_THAT(lines_, IsEmpty());
  exchange->Respond({.code = 200, .headers = {}, .body = "{}"});
  EXPECT_THAT(lines_, ElementsAre("id-1 ResponseComplete 200"));
  EXPECT_EQ(Header(exchange->head(), "audit-id"), "id-1");
}

TEST_F(AuditLogTest, AnIdMayBeBrought) {
  AuditLog log(Options(), clock_, new_uid_);
  const auto exchange = Pass(log, "/api/v1/pods", {{"audit-id", "mine"}});
  exchange->Fail(BadRequest("no"));
  EXPECT_THAT(lines_, ElementsAre("mine ResponseComplete 400"));
  EXPECT_EQ(Header(exchange->head(), "audit-id"), "mine");
}

TEST_F(AuditLogTest, AWatchIsToldAtItsStartAndItsEnd) {
  AuditLog log(Options(), clock_, new_uid_);
  const auto exchange = Pass(log, "/api/v1/pods?watch=1");
  exchange->Open({.code = 200, .headers = {}, .body = ""});
  EXPECT_THAT(lines_, ElementsAre("id-1 ResponseStarted 200"));
  exchange->Send("event");
  exchange->End();
  EXPECT_THAT(lines_, ElementsAre("id-1 ResponseStarted 200", "id-1 ResponseComplete 200"));
}

TEST_F(AuditLogTest, WhatFailsToAuthenticateIsToldAtItsStart) {
  AuditLog log(Options(), clock_, new_uid_);
  Pass(log, "/api/v1/pods")->Fail(ApiErrorOf(401, "Unauthorized", "Unauthorized"));
  EXPECT_THAT(lines_, ElementsAre("id-1 ResponseStarted 401"));
}

TEST_F(AuditLogTest, AClientThatLeavesHasHadItsAnswer) {
  AuditLog log(Options(), clock_, new_uid_);
  Pass(log, "/api/v1/pods")->MarkGone();
  EXPECT_THAT(lines_, ElementsAre("id-1 ResponseComplete 200"));
}

TEST_F(AuditLogTest, StagesCanBeOmittedOrNot) {
  AuditOptions options = Options();
  options.omit_stages = {"ResponseComplete"};
  AuditLog log(options, clock_, new_uid_);
  Pass(log, "/api/v1/pods")->Respond({});
  EXPECT_THAT(lines_, ElementsAre("id-1 RequestReceived 0"));
}

TEST_F(AuditLogTest, WithoutASinkTheAnswerStillTellsIdAndWarnings) {
  AuditLog log({}, clock_, new_uid_);
  const auto exchange = Pass(log, "/api/v1/pods");
  exchange->request().notes->warnings = {"care \"ful\""};
  exchange->Respond({});
  EXPECT_EQ(Header(exchange->head(), "audit-id"), "id-1");
  EXPECT_EQ(Header(exchange->head(), "warning"), R"(299 - "care \"ful\"")");
}

TEST(IsAuditedTest, TheFirstRuleThatMatchesDecides) {
  const std::vector<AuditRule> rules = {
      {.log = false, .users = {}, .verbs = {}, .resources = {"leases"}, .namespaces = {}},
      {.log = true, .users = {"jane"}, .verbs = {"get", "list"}, .resources = {}, .namespaces = {}},
      {.log = true, .users = {}, .verbs = {}, .resources = {}, .namespaces = {"shop"}},
  };
  const auto audited = [&](const char* user, const char* method, const char* target) {
    Request request = Request::Parse(method, target, {}, "").value();
    request.user.name = user;
    return IsAudited(rules, request);
  };
  EXPECT_FALSE(audited("jane", "GET", "/apis/coordination.k8s.io/v1/namespaces/shop/leases/a"));
  EXPECT_TRUE(audited("jane", "GET", "/version"));
  EXPECT_FALSE(audited("jane", "DELETE", "/api/v1/namespaces/x/pods/a"));
  EXPECT_TRUE(audited("john", "DELETE", "/api/v1/namespaces/shop/pods/a"));
  EXPECT_FALSE(audited("john", "GET", "/version"));
  EXPECT_FALSE(IsAudited({}, Request()));
}

}  // namespace
}  // namespace mandate::apiserver
