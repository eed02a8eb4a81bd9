// The answers are those of the real server (testing/conformance/rows/subresources.yaml).
#include "manager/client/subresource_calls.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manager/client/client.h"
#include "manager/client/retry_policy.h"
#include "manager/client/testing/client_fixture.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/object/kinds/apps_v1.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using appsv1::Deployment;
using ::testing::HasSubstr;

const ObjectKey kKey = {"shop", "a"};
constexpr char kDone[] = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})";
constexpr char kPod[] = "/api/v1/namespaces/shop/pods/a";
constexpr char kDeployment[] = "/apis/apps/v1/namespaces/shop/deployments/a";
constexpr char kScaleAnswer[] =
    R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a","namespace":"shop",)"
    R"("uid":"u","resourceVersion":"7"},"spec":{"replicas":3},)"
    R"("status":{"replicas":2,"selector":"app=a"}})";
constexpr char kBlocked[] =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
    R"("message":"Cannot evict pod as it would violate the pod's disruption budget.",)"
    R"("reason":"TooManyRequests","details":{"causes":[{"reason":"DisruptionBudget",)"
    R"("message":"The disruption budget b needs 1 healthy pods and has 1 currently"}]},)"
    R"("code":429})";

struct SubresourceCallsTest : ClientFixture {
  const RecordedRequest& Last() { return fake.requests().back(); }
  Json::Value Body() { return *ParseJson(Last().body); }
  void Answer(int code, std::string body) {
    server = [code, body](const HttpRequest&) { return FakeReply::Json(code, body); };
  }
  std::vector<OwnWrite> Noted() {
    return client().own_writes().Pending(KindOf<Deployment>::value, "", "");
  }

  Client<kScope> typed = *Client<kScope>::Create(client());
};

TEST_F(SubresourceCallsTest, Evicts) {
  Answer(201, kDone);
  ASSERT_TRUE(typed.Evict({}, kKey).ok());
  EXPECT_EQ(Last().method, "POST");
  EXPECT_EQ(Last().target, StrCat(kPod, "/eviction"));
  EXPECT_EQ(Body(), *ParseJson(R"({"apiVersion":"policy/v1","kind":"Eviction",
                                   "metadata":{"name":"a","namespace":"shop"}})"));
  ASSERT_TRUE(
      typed.Evict({}, kKey, {.uid = "u", .grace_period = absl::Seconds(5), .dry_run = true}).ok());
  EXPECT_EQ(Last().target, StrCat(kPod, "/eviction?dryRun=All"));
  EXPECT_EQ(Body()["deleteOptions"],
            *ParseJson(R"({"preconditions":{"uid":"u"},"gracePeriodSeconds":5})"));
}

TEST_F(SubresourceCallsTest, AnEvictionThatABudgetForbidsIsNotRepeated) {
  for (const auto wait : {std::optional<absl::Duration>(), std::optional(absl::Seconds(10))}) {
    fake.ForgetRequests();
    server = [&](const HttpRequest&) {
      FakeReply reply = FakeReply::Json(429, kBlocked);
      reply.result->retry_after = wait;
      return reply;
    };
    const absl::Status evicted = typed.Evict(In(absl::Minutes(5)), kKey);
    EXPECT_TRUE(IsBlockedByBudget(evicted)) << evicted;
    EXPECT_TRUE(IsTooManyRequests(evicted));
    EXPECT_EQ(RetryAfter(evicted), wait);
    EXPECT_FALSE(IsOutcomeUnknown(evicted));
    EXPECT_EQ(Sent(), 1u);
  }
}

TEST_F(SubresourceCallsTest, AnEvictionThatTheServerThrottlesIsRepeated) {
  int left = 2;
  server = [&](const HttpRequest&) {
    return left-- > 0 ? Busy(429, absl::Seconds(1)) : FakeReply::Json(201, kDone);
  };
  EXPECT_TRUE(typed.Evict(In(absl::Minutes(5)), kKey).ok());
  EXPECT_EQ(Sent(), 3u);
  server = [&](const HttpRequest&) { return Busy(429, absl::Seconds(1)); };
  EXPECT_FALSE(IsBlockedByBudget(typed.Evict(In(absl::Minutes(5)), kKey)));
}

TEST_F(SubresourceCallsTest, AnEvictionIsRepeatedOnlyIfItsUidSaysWhichPod) {
  server = [&](const HttpRequest&) { return FakeReply::Error(absl::UnavailableError("reset")); };
  EXPECT_TRUE(IsOutcomeUnknown(typed.Evict({}, kKey)));
  EXPECT_EQ(Sent(), 1u);
  EXPECT_FALSE(typed.Evict({}, kKey, {.uid = "u"}).ok());
  EXPECT_EQ(Sent(), 6u);
}

TEST_F(SubresourceCallsTest, Binds) {
  Answer(201, kDone);
  ASSERT_TRUE(typed.Bind({}, kKey, "node-1", {.uid = "u"}).ok());
  EXPECT_EQ(Last().target, StrCat(kPod, "/binding"));
  EXPECT_EQ(Body(), *ParseJson(R"({"apiVersion":"v1","kind":"Binding",
      "metadata":{"name":"a","namespace":"shop","uid":"u"},
      "target":{"apiVersion":"v1","kind":"Node","name":"node-1"}})"));
  ASSERT_TRUE(typed.Bind({}, kKey, "node-1", {.dry_run = true}).ok());
  EXPECT_EQ(Last().target, StrCat(kPod, "/binding?dryRun=All"));
  Answer(409, R"({"kind":"Status","reason":"Conflict","code":409})");
  EXPECT_TRUE(IsConflict(typed.Bind({}, kKey, "node-1")));
}

TEST_F(SubresourceCallsTest, CreatesTokens) {
  // The fixture's own tokens come from such requests.
  fake.Expect("POST", "/api/v1/namespaces/shop/serviceaccounts/a/token",
              FakeReply::Json(201, R"({"kind":"TokenRequest","spec":{"expirationSeconds":1200},
                                       "status":{"token":"t-1"}})"));
  const auto token = typed.CreateToken(
      {}, kKey, {.life = absl::Minutes(30), .audiences = {"vault"}, .bound_secret = "s"});
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->token.Reveal(), "t-1");
  EXPECT_EQ(token->life, absl::Minutes(20));
  EXPECT_EQ(Body()["spec"], *ParseJson(R"({"audiences":["vault"],"expirationSeconds":1800,
                "boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":"s"}})"));
}

TEST_F(SubresourceCallsTest, AnInvalidTokenIsNotInTheError) {
  fake.Expect("POST", "/api/v1/namespaces/shop/serviceaccounts/a/token",
              FakeReply::Json(201, R"({"status":{"token":"t-1"}})"));
  const auto token = typed.CreateToken({}, kKey);
  EXPECT_EQ(token.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(token.status().message()), HasSubstr("ServiceAccount shop/a"));
  EXPECT_THAT(std::string(token.status().message()), testing::Not(HasSubstr("t-1")));
}

TEST_F(SubresourceCallsTest, GetsScales) {
  Answer(200, kScaleAnswer);
  const auto scale = typed.GetScale<Deployment>({}, kKey);
  ASSERT_TRUE(scale.ok()) << scale.status();
  EXPECT_EQ(Last().method, "GET");
  EXPECT_EQ(Last().target, StrCat(kDeployment, "/scale"));
  EXPECT_EQ(Last().accept, "application/json");
  EXPECT_EQ(scale->uid, "u");
  EXPECT_EQ(scale->resource_version, "7");
  EXPECT_EQ(scale->replicas, 3);
  EXPECT_EQ(scale->observed_replicas, 2);
  EXPECT_EQ(scale->selector, "app=a");
  Answer(200, "<html>");
  EXPECT_EQ(typed.GetScale<Deployment>({}, kKey).status().code(), absl::StatusCode::kInternal);
}

TEST_F(SubresourceCallsTest, UpdatesAndPatchesScales) {
  Answer(200, kScaleAnswer);
  const Scale scale = {.uid = "u", .resource_version = "6", .replicas = 3};
  const auto patch = MergePatch::Unconditional(R"({"spec":{"replicas":3}})");
  ASSERT_TRUE(typed.UpdateScale<Deployment>({}, kKey, scale, {.dry_run = true}).ok());
  EXPECT_EQ(Last().target, StrCat(kDeployment, "/scale?fieldManager=scope&dryRun=All"));
  ASSERT_TRUE(typed.PatchScale<Deployment>({}, kKey, patch, {.dry_run = true}).ok());
  EXPECT_TRUE(Noted().empty());
  const auto updated = typed.UpdateScale<Deployment>({}, kKey, scale);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->resource_version, "7");
  EXPECT_EQ(Last().method, "PUT");
  EXPECT_EQ(Last().target, StrCat(kDeployment, "/scale?fieldManager=scope"));
  EXPECT_EQ(Body(), *ParseJson(R"({"apiVersion":"autoscaling/v1","kind":"Scale",
      "metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"6"},
      "spec":{"replicas":3}})"));
  ASSERT_EQ(Noted().size(), 1u) << "a cached read waits for the Deployment";
  EXPECT_EQ(Noted()[0].resource_version, "7");
  ASSERT_TRUE(typed.PatchScale<Deployment>({}, kKey, patch).ok());
  EXPECT_EQ(Last().method, "PATCH");
  EXPECT_EQ(Last().content_type, "application/merge-patch+json");
  EXPECT_EQ(Last().body, patch.json());
}

TEST_F(SubresourceCallsTest, AnUpdateOfAScaleNeedsItsVersion) {
  const auto updated = typed.UpdateScale<Deployment>({}, kKey, {.replicas = 3});
  EXPECT_EQ(updated.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(updated.status().message()),
              HasSubstr("the scale of Deployment shop/a has no resourceVersion"));
  EXPECT_EQ(Sent(), 0u);
}

TEST_F(SubresourceCallsTest, RejectsIncompleteKeys) {
  for (const ObjectKey& key : {ObjectKey{"", "a"}, ObjectKey{"shop", ""}}) {
    for (const absl::Status& status :
         {typed.Evict({}, key), typed.Bind({}, key, "n"), typed.CreateToken({}, key).status(),
          typed.GetScale<Deployment>({}, key).status(),
          typed.UpdateScale<Deployment>({}, key, {.resource_version = "1"}).status(),
          typed.PatchScale<Deployment>({}, key, MergePatch::Unconditional("{}")).status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    }
  }
  EXPECT_EQ(typed.Bind({}, kKey, "").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Sent(), 0u);
}

// The mandate is checked with the subresource.
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kApps[] = {"apps"};
constexpr std::string_view kWholePods[] = {"pods", "serviceaccounts"};
constexpr std::string_view kEvictions[] = {"pods/eviction"};
constexpr std::string_view kScales[] = {"deployments/scale"};
constexpr std::string_view kGet[] = {"get"};
constexpr rbac::MandateRule kLimitedRules[] = {
    {.rule = {.verbs = kEverything, .api_groups = kCore, .resources = kWholePods}},
    {.rule = {.verbs = kEverything, .api_groups = kCore, .resources = kEvictions}},
    {.rule = {.verbs = kGet, .api_groups = kApps, .resources = kScales}},
};
constexpr rbac::Mandate kLimited = {.component = "scope", .rules = kLimitedRules};

template <class C>
concept CanEvict = requires(C c, CallContext x, ObjectKey k) {
  c.Evict(x, k);
};
template <class C>
concept CanBind = requires(C c, CallContext x, ObjectKey k) {
  c.Bind(x, k, "n");
};
template <class C>
concept CanCreateToken = requires(C c, CallContext x, ObjectKey k) {
  c.CreateToken(x, k);
};
template <class C>
concept CanGetScale = requires(C c, CallContext x, ObjectKey k) {
  c.template GetScale<Deployment>(x, k);
};
template <class C>
concept CanUpdateScale = requires(C c, CallContext x, ObjectKey k, Scale s) {
  c.template UpdateScale<Deployment>(x, k, s);
};

static_assert(CanEvict<Client<kLimited>> && !CanBind<Client<kLimited>>);
static_assert(!CanCreateToken<Client<kLimited>> && CanCreateToken<Client<kScope>>);
static_assert(CanGetScale<Client<kLimited>> && !CanUpdateScale<Client<kLimited>>);

}  // namespace
}  // namespace mandate
