#include "testing/conformance/hook_server.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "manager/object/json.h"
#include "testing/conformance/http.h"

namespace mandate::conformance {
namespace {

constexpr char kReview[] =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1"}})";

TEST(HookServerTest, AnswersAsToldAndRemembers) {
  const auto hooks = *HookServer::Create();
  std::string ca;
  ASSERT_TRUE(absl::Base64Unescape(hooks->CaBundle(), &ca));
  const std::string url = hooks->UrlOf("deny");
  const size_t slash = url.rfind('/');
  HttpClient http({.server = url.substr(0, slash), .ca_pem = ca});
  const auto ask = [&] {
    return *http.Send({.method = "POST",
                       .target = url.substr(slash) + "?timeout=1s",
                       .headers = {{"Content-Type", "application/json"}},
                       .body = kReview,
                       .has_body = true});
  };

  hooks->Serve("deny", *ParseJson(R"({"allowed":false,"status":{"message":"no"}})"));
  EXPECT_EQ(ask().body,
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":)"
            R"({"allowed":false,"status":{"message":"no"},"uid":"u1"}})");
  hooks->Serve("deny", *ParseJson(R"({"allowed":true,"patch":[{"op":"remove","path":"/a"}]})"));
  const Json::Value patched = *ParseJson(ask().body);
  std::string patch;
  ASSERT_TRUE(absl::Base64Unescape(patched["response"]["patch"].asString(), &patch));
  EXPECT_EQ(patch, R"([{"op":"remove","path":"/a"}])");
  EXPECT_EQ(patched["response"]["patchType"], "JSONPatch");
  hooks->Serve("deny", *ParseJson(R"({"code":500,"raw":"broken"})"));
  EXPECT_EQ(ask().code, 500);
  EXPECT_EQ(hooks->Received("deny").size(), 3u);
  EXPECT_EQ(hooks->Received("other").size(), 0u);
}

}  // namespace
}  // namespace mandate::conformance
