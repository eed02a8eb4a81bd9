#include "rbacgen/lint/builtin_resources.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

// The cluster-scoped resources of each group. builtin_cluster_test compares with a server.
const std::map<std::string_view, std::string> kClusterScoped = {
    {"",
     "componentstatuses namespaces namespaces/finalize namespaces/status nodes "
     "nodes/proxy nodes/status persistentvolumes persistentvolumes/status users groups "
     "nodes/checkpoint nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods "
     "nodes/spec nodes/stats"},
    {"admissionregistration.k8s.io",
     "mutatingadmissionpolicies mutatingadmissionpolicybindings "
     "mutatingwebhookconfigurations validatingadmissionpolicies "
     "validatingadmissionpolicies/status validatingadmissionpolicybindings "
     "validatingwebhookconfigurations"},
    {"apiextensions.k8s.io", "customresourcedefinitions customresourcedefinitions/status"},
    {"apiregistration.k8s.io", "apiservices apiservices/status"},
    {"authentication.k8s.io", "selfsubjectreviews tokenreviews groups nodes uids userextras users"},
    {"authorization.k8s.io",
     "selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews"},
    {"certificates.k8s.io",
     "certificatesigningrequests certificatesigningrequests/approval "
     "certificatesigningrequests/status clustertrustbundles signers"},
    {"flowcontrol.apiserver.k8s.io",
     "flowschemas flowschemas/status prioritylevelconfigurations "
     "prioritylevelconfigurations/status"},
    {"internal.apiserver.k8s.io", "storageversions storageversions/status"},
    {"networking.k8s.io", "ingressclasses ipaddresses servicecidrs servicecidrs/status"},
    {"node.k8s.io", "runtimeclasses"},
    {"rbac.authorization.k8s.io", "clusterrolebindings clusterroles"},
    {"resource.k8s.io",
     "deviceclasses devicetaintrules devicetaintrules/status "
     "resourcepoolstatusrequests resourcepoolstatusrequests/status resourceslices"},
    {"scheduling.k8s.io", "priorityclasses"},
    {"storage.k8s.io",
     "csidrivers csinodes storageclasses volumeattachments volumeattachments/status "
     "volumeattributesclasses"},
    {"storagemigration.k8s.io", "storageversionmigrations storageversionmigrations/status"},
};

TEST(BuiltinResources, AreClusterScopedAsListed) {
  std::map<std::string_view, std::string> found;
  for (const BuiltinResource& r : BuiltinResources()) {
    if (r.namespaced) continue;
    std::string& its = found[r.group];
    its += (its.empty() ? "" : " ") + std::string(r.resource);
  }
  EXPECT_EQ(found, kClusterScoped);
}

TEST(FindBuiltin, FindsResourcesAndSubresources) {
  const struct {
    std::string_view group, resource;
    std::string_view want;  // "none", or its scope and verbs
  } kCases[] = {
      {"", "pods", "namespaced create delete deletecollection get list patch update watch"},
      {"", "pods/log", "namespaced get"},
      {"", "componentstatuses", "cluster get list"},
      {"apps", "pods", "none"},
      {"", "deployments", "none"},
      {"", "pods/finalizers", "namespaced update"},
      {"", "nodes/finalizers", "cluster update"},
      {"apps", "pods/finalizers", "none"},
      {"", "/finalizers", "none"},
  };
  for (const auto& c : kCases) {
    const BuiltinResource* found = FindBuiltin(c.group, c.resource);
    const std::string text = found == nullptr ? "none"
                                              : (found->namespaced ? "namespaced " : "cluster ") +
                                                    std::string(found->verbs);
    EXPECT_EQ(text, c.want) << c.group << " " << c.resource;
  }
}

TEST(NearestBuiltin, FindsTheMostSimilarName) {
  const struct {
    std::string group;
    std::string_view resource;
    std::string_view want;  // "none", or "resource.group"
  } kCases[] = {
      {"apps", "deployment", "deployments.apps"},
      {"", "deployments", "deployments.apps"},
      {"apps", "deploymens", "deployments.apps"},
      {"apps", "xdaployments", "deployments.apps"},
      {"apps", "xdaploymentz", "none"},
      {"", "event", "events."},
      {"events.k8s.io", "event", "events.events.k8s.io"},
      {"", "pod", "pods."},  // in a short word only one letter may differ
      {"", "po", "none"},
      {"", "poxes", "nodes."},
      {"", "ponds", "pods."},
      {"", "frobnicators", "none"},
  };
  for (const auto& c : kCases) {
    const BuiltinResource* found = NearestBuiltin({&c.group, 1}, c.resource);
    const std::string text =
        found == nullptr ? "none" : std::string(found->resource) + "." + std::string(found->group);
    EXPECT_EQ(text, c.want) << c.group << " " << c.resource;
  }
}

TEST(KnowsVerb, KnowsTheVerbsOfTheResource) {
  const struct {
    BuiltinResource resource;
    std::string_view verb;
    bool want;
  } kCases[] = {
      {{"", "x", true, "get list watch"}, "get", true},
      {{"", "x", true, "get list watch"}, "list", true},
      {{"", "x", true, "get list watch"}, "watch", true},
      {{"", "x", true, "get list watch"}, "wat", false},
      {{"", "x", true, "get list watch"}, "get list", false},
      {{"", "x", true, "get list watch"}, "", false},
      {{"", "x", true, "get list watch"}, "impersonate:user-info", false},
      {{"", "x", true, "impersonate"}, "impersonate", true},
      {{"", "x", true, "impersonate"}, "impersonate:user-info", true},
      {{"", "x", true, "impersonate"}, "impersonates", false},
  };
  for (const auto& c : kCases) EXPECT_EQ(KnowsVerb(c.resource, c.verb), c.want) << c.verb;
}

}  // namespace
}  // namespace mandate::rbacgen
