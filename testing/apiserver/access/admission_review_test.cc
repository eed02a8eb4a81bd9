#include "testing/apiserver/access/admission_review.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(AdmissionReviewBodyTest, IsTheServers) {
  Request request;
  request.user.name = "jane";
  request.user.groups = {"dev"};
  WriteAttributes write;
  write.request = &request;
  write.operation = "UPDATE";
  write.group = "apps";
  write.version = "v1";
  write.kind = "Deployment";
  write.resource = "deployments";
  write.subresource = "status";
  write.ns = "shop";
  write.name = "web";
  write.old_object = ParseJson(R"({"metadata":{"name":"web"}})").value();
  write.options = ParseJson(R"({"apiVersion":"meta.k8s.io/v1","kind":"PatchOptions",
                               "force":true})")
                      .value();
  EXPECT_EQ(
      AdmissionReviewBody("u1", write,
                          ParseJson(R"({"metadata":{"name":"web","uid":"x"}})").value()),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"dryRun":false,)"
      R"("kind":{"group":"apps","kind":"Deployment","version":"v1"},"name":"web","namespace":)"
      R"("shop","object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",)"
      R"("uid":"x"}},"oldObject":{"apiVersion":"apps/v1","kind":"Deployment","metadata":)"
      R"({"name":"web"}},"operation":"UPDATE","options":{"apiVersion":"meta.k8s.io/v1","kind":)"
      R"("UpdateOptions"},"requestKind":{"group":"apps","kind":"Deployment","version":"v1"},)"
      R"("requestResource":{"group":"apps","resource":"deployments","version":"v1"},)"
      R"("requestSubResource":"status","resource":{"group":"apps","resource":"deployments",)"
      R"("version":"v1"},"subResource":"status","uid":"u1","userInfo":{"groups":["dev"],)"
      R"("username":"jane"}}})");

  write.subresource.clear();
  write.name.clear();
  const Json::Value deletion =
      ParseJson(AdmissionReviewBody("u1", write, Json::nullValue)).value()["request"];
  EXPECT_TRUE(deletion["object"].isNull());
  EXPECT_TRUE(deletion.isMember("object"));
  EXPECT_FALSE(deletion.isMember("subResource"));
  EXPECT_FALSE(deletion.isMember("name"));

  WriteAttributes space;
  space.request = &request;
  space.resource = "namespaces";
  space.name = "shop";
  EXPECT_EQ(ParseJson(AdmissionReviewBody("u1", space, Json::nullValue))
                .value()["request"]["namespace"]
                .asString(),
            "shop");
}

absl::StatusOr<Verdict> Read(WebhookKind kind, const std::string& response) {
  return ReadVerdict(
      {.code = 200,
       .body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":)" +
               response + "}"},
      "u1", kind);
}

TEST(ReadVerdictTest, ReadsAllThatAWebhookMaySay) {
  const std::string patch = absl::Base64Escape(R"([{"op":"remove","path":"/a"}])");
  const auto verdict = Read(WebhookKind::kMutating,
                            R"({"uid":"u1","allowed":true,"patchType":"JSONPatch","patch":")" +
                                patch + R"(","warnings":["w"],"auditAnnotations":{"k":"v"}})");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_TRUE(verdict->allowed);
  EXPECT_EQ(WriteJson(verdict->patch), R"([{"op":"remove","path":"/a"}])");
  EXPECT_EQ(verdict->patch_type, "JSONPatch");
  EXPECT_THAT(verdict->warnings, ElementsAre("w"));
  EXPECT_THAT(verdict->annotations, ElementsAre(Pair("k", "v")));
  EXPECT_FALSE(Read(WebhookKind::kValidating, R"({"uid":"u1"})")->allowed);
}

TEST(ReadVerdictTest, SaysWhyAnAnswerIsNone) {
  struct Case {
    WebhookKind kind;
    WebhookReply reply;
    std::string why;
  };
  const auto ok = [](std::string body) {
    return WebhookReply{.code = 200, .body = std::move(body)};
  };
  const auto response = [&](const std::string& text) { return ok(R"({"response":)" + text + "}"); };
  constexpr auto kMutating = WebhookKind::kMutating;
  constexpr auto kValidating = WebhookKind::kValidating;
  const Case cases[] = {
      {kValidating, ok("zzz"),
       "failed to call webhook: couldn't get version/kind; json parse error: not an object"},
      {kValidating, ok("{}"), "received invalid webhook response: webhook response was absent"},
      {kValidating, response(R"({"uid":"bad"})"),
       "received invalid webhook response: expected response.uid=\"u1\", got \"bad\""},
      {kValidating, ok(R"({"apiVersion":"admission.k8s.io/v1beta1","response":{}})"),
       "failed to call webhook: converting (admission.k8s.io/v1beta1.AdmissionReview) to "
       "(v1.AdmissionReview): unknown conversion"},
      {kValidating, response(R"({"uid":"u1","patch":"W10="})"),
       "received invalid webhook response: validating webhook may not return response.patch"},
      {kValidating, response(R"({"uid":"u1","patchType":"JSONPatch"})"),
       "received invalid webhook response: validating webhook may not return response.patchType"},
      {kMutating, response(R"({"uid":"u1","patch":"W10="})"),
       "received invalid webhook response: webhook returned response.patch but not "
       "response.patchType"},
      {kMutating, response(R"({"uid":"u1","patchType":"JSONPatch"})"),
       "received invalid webhook response: webhook returned response.patchType but not "
       "response.patch"},
      {kMutating, response(R"({"uid":"u1","patchType":"","patch":"W10="})"),
       "received invalid webhook response: webhook returned invalid response.patchType of \"\""},
      {kMutating, response(R"({"uid":"u1","patchType":"JSONPatch","patch":"!!"})"),
       "failed to call webhook: illegal base64 data at input byte 0"},
      {kMutating, response(R"({"uid":"u1","patchType":"JSONPatch","patch":"e30="})"),
       "received undecodable patch in webhook response: json: cannot unmarshal object into Go "
       "value of type jsonpatch.Patch"},
      {kValidating,
       {.code = 500, .body = "nope"},
       "failed to call webhook: an error on the server (\"unknown\") has prevented the request "
       "from succeeding"},
      {kValidating,
       {.code = 404, .body = "nope"},
       "failed to call webhook: the server could not find the requested resource"},
      {kValidating,
       {.code = 403, .body = R"({"kind":"Status","message":"hey"})"},
       "failed to call webhook: hey"},
  };
  for (const Case& c : cases) {
    const auto verdict = ReadVerdict(c.reply, "u1", c.kind);
    EXPECT_FALSE(verdict.ok()) << c.reply.body;
    EXPECT_EQ(verdict.status().message(), c.why);
    EXPECT_FALSE(ApiStatus(verdict.status())) << "that would be a refusal";
  }
}

TEST(DeniedTest, IsAStatusInTheWebhooksWords) {
  struct Case {
    std::string status;
    int code;
    std::string reason, message;
  };
  const std::string denied = "admission webhook \"v.example.com\" denied the request";
  const Case cases[] = {
      {"null", 400, "", denied + " without explanation"},
      {R"({"message":"no way"})", 400, "", denied + ": no way"},
      {R"({"reason":"Because"})", 400, "Because", denied + ": Because"},
      {R"({"code":409,"reason":"Conflict","message":"m"})", 409, "Conflict", denied + ": m"},
      {R"({"code":200,"status":"Success","message":"x"})", 400, "", denied + ": x"},
  };
  for (const Case& c : cases) {
    Verdict verdict;
    verdict.status = ParseJson(c.status).value();
    const auto status = ApiStatus(Denied("v.example.com", verdict));
    ASSERT_TRUE(status) << c.status;
    EXPECT_EQ(status->code(), c.code) << c.status;
    EXPECT_EQ(status->reason(), c.reason);
    EXPECT_EQ(status->message(), c.message);
    EXPECT_EQ(status->status(), "Failure");
  }
}

}  // namespace
}  // namespace mandate::apiserver
