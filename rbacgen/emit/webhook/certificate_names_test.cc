#include "rbacgen/emit/webhook/certificate_names.h"

#include <gtest/gtest.h>

#include <string>

namespace mandate::rbacgen {
namespace {

constexpr char kRest[] =
    ",failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,"
    "versions=v1,admissionReviewVersions=v1\n";

std::string Validating(const std::string& more = "path=/v") {
  return "// +kubebuilder:webhook:mutating=false,name=v.b.c," + more + kRest;
}
std::string Mutating() {
  return std::string("// +kubebuilder:webhook:mutating=true,name=m.b.c,path=/m") + kRest;
}
// The marker of webhook-certificates for the configurations of one kind.
std::string Writes(const std::string& resource, const std::string& names) {
  return "// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=" + resource +
         (names.empty() ? "" : ",resourceNames=" + names) + ",verbs=update\n";
}

// The report for the webhooks of component one, with these markers of webhook-certificates.
std::string Report(const std::string& webhooks_of_one, const std::string& certificates) {
  Webhooks webhooks;
  Sources sources;
  Diagnostics diagnostics;
  const std::string one =
      "// +mandate:component:name=one,value=webhooks.enabled\n" + webhooks_of_one;
  const std::string other =
      "// +mandate:component:name=webhook-certificates,value=w\n" + certificates;
  ReadDeclarations("a.h", one, Severity::kError, &sources, &diagnostics);
  ReadWebhooks("a.h", one, Severity::kError, &webhooks, &diagnostics);
  if (!certificates.empty()) {
    ReadDeclarations("c.h", other, Severity::kError, &sources, &diagnostics);
  }
  CheckCertificateNames(webhooks, sources, "shop", &diagnostics);
  return diagnostics.Report();
}

constexpr char kValidating[] = "validatingwebhookconfigurations";
constexpr char kMutating[] = "mutatingwebhookconfigurations";

TEST(CheckCertificateNames, AcceptsWhatAgrees) {
  EXPECT_EQ(Report(Validating(), Writes(kValidating, "shop-one-validating")), "");
  EXPECT_EQ(Report(Validating() + Mutating(), Writes(kValidating, "shop-one-validating") +
                                                  Writes(kMutating, "shop-one-mutating")),
            "");
  EXPECT_EQ(Report(Validating(), Writes(kValidating, "")), "") << "all names";
}

TEST(CheckCertificateNames, AcceptsWhatAnotherWrites) {
  EXPECT_EQ(Report(Validating(), ""), "") << "files have the certificate";
  EXPECT_EQ(Report(Validating("path=/v,serviceName=other") + Mutating(),
                   Writes(kMutating, "shop-one-mutating")),
            "");
  EXPECT_EQ(Report(Validating("url=https://u.example.com/") + Mutating(),
                   Writes(kMutating, "shop-one-mutating")),
            "");
  EXPECT_EQ(Report("", Writes(kValidating, "shop-one-validating")), "")
      << "the sources of the webhooks were not given";
}

TEST(CheckCertificateNames, ReportsANameThatNoWebhookMakes) {
  EXPECT_EQ(
      Report(Validating(), Writes(kValidating, "shop-one-validating;shop-two-validating")),
      "c.h:2: error: no webhook of the sources is in validatingwebhookconfigurations "
      "\"shop-two-validating\"; the names are shop-one-validating; correct it, or remove it\n");
}

TEST(CheckCertificateNames, ReportsAConfigurationThatNobodyWrites) {
  EXPECT_EQ(
      Report(Validating() + Mutating(), Writes(kValidating, "shop-one-validating")),
      "a.h:3: error: the component webhook-certificates may not write the caBundle of "
      "mutatingwebhookconfigurations \"shop-one-mutating\", so the API server would not trust "
      "the webhook m.b.c; add the name to the resourceNames in its marker\n");
}

}  // namespace
}  // namespace mandate::rbacgen
