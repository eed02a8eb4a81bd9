#include "rbacgen/analysis/question.h"

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/analysis/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

TEST(ParseQuestion, ReadsWhatKubectlReads) {
  const World world = TreeOf(
      "// +kubebuilder:rbac:groups=g.io,resources=things/status;users,verbs=get\n"
      "// +kubebuilder:rbac:groups=a.io;b.io,resources=twice,verbs=get\n");
  const struct {
    const char* resource;
    const char* subresource;
    const char* want;  // group|resource|subresource|name
  } kCases[] = {
      {"pods", "", "|pods||"},
      {"pods/web", "log", "|pods|log|web"},
      {"deployments", "", "apps|deployments||"},
      {"deployments.extensions", "", "extensions|deployments||"},
      {"deployments.apps/web", "scale", "apps|deployments|scale|web"},
      {"clusterroles", "", "rbac.authorization.k8s.io|clusterroles||"},
      {"mutatingadmissionpolicies", "", "admissionregistration.k8s.io|mutatingadmissionpolicies||"},
      {"resourceclaims", "", "resource.k8s.io|resourceclaims||"},
      {"csistoragecapacities", "", "storage.k8s.io|csistoragecapacities||"},
      {"events", "", "|events||"},
      {"serviceaccounts", "", "|serviceaccounts||"},
      {"groups", "", "|groups||"},
      {"signers", "", "certificates.k8s.io|signers||"},
      {"users", "", "g.io|users||"},
      {"things", "", "g.io|things||"},
      {"twice", "", "|twice||"},
      {"unknown", "", "|unknown||"},
      {"*", "", "*|*||"},
  };
  for (const auto& c : kCases) {
    const auto a = ParseQuestion({"get", c.resource, c.subresource, "n"}, world.policy);
    ASSERT_TRUE(a.ok()) << c.resource;
    EXPECT_EQ(a->api_group + "|" + a->resource + "|" + a->subresource + "|" + a->name, c.want)
        << c.resource;
    EXPECT_EQ(a->ns, "n");
  }
  const auto path = ParseQuestion({"get", "/metrics", "", ""}, world.policy);
  ASSERT_TRUE(path.ok());
  EXPECT_FALSE(path->is_resource_request);
  EXPECT_EQ(path->path, "/metrics");
  for (const QuestionText& text : {QuestionText{"get", "", "", ""},
                                   {"", "pods", "", ""},
                                   {"get", "pods/", "", ""},
                                   {"get", "pods/a/b", "", ""},
                                   {"get", "/metrics", "", "n"}}) {
    EXPECT_FALSE(ParseQuestion(text, world.policy).ok()) << text.resource;
  }
}

TEST(QuestionDoubts, SayWhatMayNotBeMeant) {
  const struct {
    QuestionText text;
    const char* want;
  } kCases[] = {
      {{"get", "pods", "", ""}, ""},
      {{"get", "pods/web", "log", ""}, ""},
      {{"bind", "clusterroles/view", "", ""}, ""},
      {{"escalate", "roles", "", ""}, ""},
      {{"impersonate", "users/jane", "", ""}, ""},
      {{"use", "things.example.com", "", ""}, ""},
      {{"get", "/metrics", "", ""}, ""},
      {{"*", "*", "", ""}, ""},
      {{"create", "serviceaccounts/token", "", ""},
       "\"token\" is taken as the name of one of serviceaccounts, as kubectl takes it; the "
       "subresource is serviceaccounts --subresource=token"},
      {{"patch", "things.example.com/status", "", ""},
       "\"status\" is taken as the name of one of things, as kubectl takes it; the subresource is "
       "things.example.com --subresource=status"},
      {{"get", "pod", "", ""},
       "no resource \"pod\" in the core group; \"pods\" is the nearest, in the core group"},
      {{"get", "widgets", "", ""},
       "no resource \"widgets\" in the core group of Kubernetes 1.36; write RESOURCE.GROUP for "
       "another"},
      {{"delete", "pods/web", "exec", ""}, "no request can delete pods/exec: it knows create get"},
  };
  for (const auto& c : kCases) {
    const auto request = ParseQuestion(c.text, {});
    ASSERT_TRUE(request.ok()) << c.text.resource;
    std::string got;
    for (const std::string& doubt : QuestionDoubts(c.text, *request)) {
      StrAppend(&got, got.empty() ? "" : "\n", doubt);
    }
    EXPECT_EQ(got, c.want) << c.text.verb << " " << c.text.resource;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
