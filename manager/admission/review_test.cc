#include "manager/admission/review.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

TEST(ParseAdmissionReview, ReadsTheRequest) {
  const auto review = Must(ParseAdmissionReview(R"({
    "kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{
      "uid":"u-1","kind":{"group":"apps","version":"v1","kind":"Deployment"},
      "resource":{"group":"apps","version":"v1","resource":"deployments"},"subResource":"scale",
      "name":"web","namespace":"foo","operation":"UPDATE","dryRun":true,
      "userInfo":{"username":"ann","uid":"7","groups":["dev"],"extra":{"scopes":["a","b"]}},
      "object":{"metadata":{"name":"web"},"unknown":[1]},"oldObject":null,
      "options":{"kind":"UpdateOptions"},"later":1}})"));
  EXPECT_EQ(review.api_version, "admission.k8s.io/v1");
  const AdmissionRequest& request = review.request;
  EXPECT_EQ(request.uid(), "u-1");
  EXPECT_EQ(request.kind().kind(), "Deployment");
  EXPECT_EQ(request.subresource(), "scale");
  EXPECT_TRUE(request.dryrun());
  EXPECT_EQ(request.userinfo().username(), "ann");
  EXPECT_EQ(request.userinfo().extra().at("scopes").items_size(), 2);
  EXPECT_EQ(request.object().raw(), R"({"metadata":{"name":"web"},"unknown":[1]})");
  EXPECT_EQ(request.oldobject().raw(), "");
}

TEST(ParseAdmissionReview, BoundsTheUser) {
  const auto body = [](size_t groups) {
    std::string list;
    for (size_t i = 0; i < groups; ++i) list += list.empty() ? "\"g\"" : ",\"g\"";
    return StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)",
                  R"("uid":"u","userInfo":{"groups":[)", list, "]}}}");
  };
  // {"groups":["g","g"]}
  EXPECT_EQ(Must(ParseAdmissionReview(body(2), 20)).request.userinfo().groups_size(), 2);
  EXPECT_EQ(ParseAdmissionReview(body(2), 19).status(),
            absl::OutOfRangeError("request.userInfo: 20 bytes; the limit is 19: the user's groups "
                                  "or extra fields are too large"));
  EXPECT_TRUE(ParseAdmissionReview(body(60'000)).ok());
  EXPECT_TRUE(absl::IsOutOfRange(ParseAdmissionReview(body(70'000)).status())) << "the default";
}

TEST(ParseAdmissionReview, SaysWhatIsWrong) {
  const struct {
    const char* body;
    const char* want;
  } kCases[] = {
      {"", "line 1"},
      {"[]", "expected '{'"},
      {R"({"kind":"Pod","apiVersion":"v1"})", "must be an AdmissionReview of"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2","request":{"uid":"u"}})",
       "must be an AdmissionReview of"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})", "has no request"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":null})",
       "has no request"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}})",
       "request.uid"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":7}})",
       "request: uid"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u"}} x)",
       "line 1"},
  };
  for (const auto& c : kCases) {
    const auto review = ParseAdmissionReview(c.body);
    ASSERT_TRUE(absl::IsInvalidArgument(review.status())) << c.body;
    EXPECT_NE(std::string(review.status().message()).find(c.want), std::string::npos)
        << review.status();
  }
}

TEST(WriteAdmissionReview, WritesTheResponse) {
  AdmissionResponse response;
  response.set_uid("u-1");
  response.set_allowed(true);
  response.set_patch("[]");
  response.set_patchtype("JSONPatch");
  *response.add_warnings() = "careful";
  (*response.mutable_auditannotations())["k"] = "v";
  response.mutable_status()->set_code(200);
  const Json::Value review =
      Must(ParseJson(WriteAdmissionReview("admission.k8s.io/v1beta1", response)));
  EXPECT_EQ(review["kind"], "AdmissionReview");
  EXPECT_EQ(review["apiVersion"], "admission.k8s.io/v1beta1");
  const Json::Value& written = review["response"];
  EXPECT_EQ(written["uid"], "u-1");
  EXPECT_EQ(written["allowed"], true);
  EXPECT_EQ(written["patch"], "W10=");
  EXPECT_EQ(written["patchType"], "JSONPatch");
  EXPECT_EQ(written["warnings"][0], "careful");
  EXPECT_EQ(written["auditAnnotations"]["k"], "v");
  EXPECT_EQ(written["status"]["code"], 200);
}

}  // namespace
}  // namespace mandate
