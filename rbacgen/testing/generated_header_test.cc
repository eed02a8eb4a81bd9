// Tests that the generated header compiles and has what the markers of sample_component.cc declare,
// in constant expressions.
#include <array>

#include "gtest/gtest.h"
#include "rbacgen/testing/base_mandate.h"
#include "rbacgen/testing/sample_mandates.h"

namespace mandate {
namespace {

using rbac::PermitsSomewhere;

static_assert(kSampleReader.component == "sample-reader");
static_assert(PermitsSomewhere(kSampleReader, "watch", "apps", "deployments"));
static_assert(!PermitsSomewhere(kSampleReader, "update", "apps", "deployments"));
static_assert(PermitsSomewhere(kSampleReader, "patch", "apps", "deployments", "status"));
static_assert(!PermitsSomewhere(kSampleReader, "get", "apps", "deployments", "status"));
static_assert(PermitsSomewhere(kSampleReader, "get", "", "configmaps"));
static_assert(!PermitsSomewhere(kSampleReader, "bind", "rbac.authorization.k8s.io",
                                "clusterroles"));
static_assert(PermitsSomewhere(kSampleReader, "create", "events.k8s.io", "events"));

static_assert(PermitsSomewhere(kSampleGranter, "bind", "rbac.authorization.k8s.io",
                               "clusterroles"));
static_assert(PermitsSomewhere(kSampleGranter, "create", "batch", "jobs"));
static_assert(!PermitsSomewhere(kSampleGranter, "get", "apps", "deployments"));
static_assert(PermitsSomewhere(kSampleGranter, "patch", "events.k8s.io", "events"));
static_assert(!PermitsSomewhere(kSampleGranter, "patch", "", "events"));
static_assert(!PermitsSomewhere(kSampleGranter, "update", "events.k8s.io", "events"));

static_assert(kBase.component == "base");
static_assert(PermitsSomewhere(kBase, "create", "", "serviceaccounts", "token"));
static_assert(PermitsSomewhere(kBase, "update", "coordination.k8s.io", "leases"));
static_assert(!PermitsSomewhere(kBase, "delete", "coordination.k8s.io", "leases"));
static_assert(!PermitsSomewhere(kBase, "create", "", "events"));

// A mandate can be a template argument, as in the type of a client.
template <const rbac::Mandate& mandate>
constexpr size_t RuleCount() {
  return mandate.rules.size();
}

TEST(GeneratedHeader, MarksExternalGrants) {
  size_t external = 0;
  for (const rbac::MandateRule& rule : kSampleGranter.rules) {
    if (!rule.external) continue;
    ++external;
    EXPECT_EQ(rule.rule.resources[0], "jobs");
  }
  EXPECT_EQ(external, 1u);
  EXPECT_EQ((RuleCount<kSampleGranter>()), 4u);  // bind, version and events; jobs
}

TEST(GeneratedHeader, CoversByNamespaceAndName) {
  rbac::Attributes ask;
  ask.verb = "get";
  ask.resource = "configmaps";
  ask.ns = "kube-system";
  ask.name = "settings";
  EXPECT_TRUE(rbac::PermitsRequest(kSampleReader, ask));
  ask.name = "others";
  EXPECT_FALSE(rbac::PermitsRequest(kSampleReader, ask));
  ask.name = "settings";
  ask.ns = "default";
  EXPECT_FALSE(rbac::PermitsRequest(kSampleReader, ask));
}

TEST(GeneratedHeader, BaseMayMintOnlyTheComponentsTokens) {
  rbac::Attributes ask;
  ask.verb = "create";
  ask.resource = "serviceaccounts";
  ask.subresource = "token";
  ask.ns = "mandate-system";
  for (const char* component : {"sample-granter", "sample-reader"}) {
    ask.name = std::string("mandate-manager-") + component;
    EXPECT_TRUE(rbac::PermitsRequest(kBase, ask)) << ask.name;
  }
  ask.name = "mandate-manager";
  EXPECT_FALSE(rbac::PermitsRequest(kBase, ask));
}

}  // namespace
}  // namespace mandate
