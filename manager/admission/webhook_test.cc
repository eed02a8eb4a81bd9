#include "manager/admission/webhook.h"

#include <gtest/gtest.h>

#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

TEST(WebhookPath, IsThatOfControllerRuntime) {
  EXPECT_EQ(WebhookPath(WebhookType::kMutating, KindOf<corev1::Pod>::value), "/mutate--v1-pod");
  EXPECT_EQ(WebhookPath(WebhookType::kValidating, {.group = "operators.coreos.com",
                                                   .version = "v1alpha1",
                                                   .kind = "ScopeTemplate",
                                                   .plural = "scopetemplates"}),
            "/validate-operators-coreos-com-v1alpha1-scopetemplate");
}

TEST(CheckServedMatchesDeclared, MarkersAndHandlersAgree) {
  static constexpr rbac::DeclaredWebhook kDeclared[] = {{"/a", false}, {"/b", true}};
  constexpr rbac::Mandate kMandate{"c", {}, kDeclared};
  const auto check = [&](const rbac::Mandate& mandate, const std::vector<std::string>& paths) {
    std::vector<Webhook> served;
    for (const std::string& path : paths) served.push_back({path, nullptr});
    return std::string(CheckServedMatchesDeclared(mandate, served).message());
  };
  EXPECT_EQ(check(kMandate, {"/b", "/a"}), "");
  EXPECT_EQ(check({"c", {}}, {}), "");
  EXPECT_EQ(check(kMandate, {"/a"}),
            "component c does not serve the webhooks that its markers declare: it does not serve "
            "/b, which a marker declares, so the API server calls it: serve it, or correct or "
            "remove the marker, and run make manifests");
  EXPECT_EQ(check(kMandate, {"/a", "/x"}),
            "component c does not serve the webhooks that its markers declare: it serves /x, which "
            "no marker declares, so the API server does not call it: write // "
            "+kubebuilder:webhook:path=/x,… below its component marker; it does not serve /b, "
            "which a marker declares, so the API server calls it: serve it, or correct or "
            "remove the marker, and run make manifests");
}

TEST(CheckServedMatchesDeclared, ConversionsNeedNoMarker) {
  EXPECT_EQ(CheckServedMatchesDeclared({"c", {}}, {ConversionWebhook(Conversions())}),
            absl::OkStatus());
}

}  // namespace
}  // namespace mandate
