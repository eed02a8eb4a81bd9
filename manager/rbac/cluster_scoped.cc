#include "manager/rbac/cluster_scoped.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mandate::rbac {
namespace {

struct Resource {
  std::string_view group;
  std::string_view name;

  bool operator==(const Resource&) const = default;
};

// A test of rbacgen/lint compares it with the discovery that Kubernetes publishes.
constexpr Resource kClusterScoped[] = {
    {"", "componentstatuses"},
    {"", "namespaces"},
    {"", "nodes"},
    {"", "persistentvolumes"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings"},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
    {"apiextensions.k8s.io", "customresourcedefinitions"},
    {"apiregistration.k8s.io", "apiservices"},
    {"authentication.k8s.io", "selfsubjectreviews"},
    {"authentication.k8s.io", "tokenreviews"},
    {"authorization.k8s.io", "selfsubjectaccessreviews"},
    {"authorization.k8s.io", "selfsubjectrulesreviews"},
    {"authorization.k8s.io", "subjectaccessreviews"},
    {"certificates.k8s.io", "certificatesigningrequests"},
    {"certificates.k8s.io", "clustertrustbundles"},
    {"flowcontrol.apiserver.k8s.io", "flowschemas"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"},
    {"internal.apiserver.k8s.io", "storageversions"},
    {"networking.k8s.io", "ingressclasses"},
    {"networking.k8s.io", "ipaddresses"},
    {"networking.k8s.io", "servicecidrs"},
    {"node.k8s.io", "runtimeclasses"},
    {"rbac.authorization.k8s.io", "clusterrolebindings"},
    {"rbac.authorization.k8s.io", "clusterroles"},
    {"resource.k8s.io", "deviceclasses"},
    {"resource.k8s.io", "devicetaintrules"},
    {"resource.k8s.io", "resourcepoolstatusrequests"},
    {"resource.k8s.io", "resourceslices"},
    {"scheduling.k8s.io", "priorityclasses"},
    {"storage.k8s.io", "csidrivers"},
    {"storage.k8s.io", "csinodes"},
    {"storage.k8s.io", "storageclasses"},
    {"storage.k8s.io", "volumeattachments"},
    {"storage.k8s.io", "volumeattributesclasses"},
    {"storagemigration.k8s.io", "storageversionmigrations"},
};

// Whether the resource is cluster-scoped in each group of the rule.
bool InNoNamespace(const Rule& rule, std::string_view resource) {
  return !rule.api_groups.empty() &&
         std::ranges::all_of(rule.api_groups, [&](const std::string& group) {
           return IsClusterScoped(group, resource);
         });
}

}  // namespace

bool IsClusterScoped(std::string_view group, std::string_view resource) {
  resource = resource.substr(0, resource.find('/'));
  return std::ranges::find(kClusterScoped, Resource{group, resource}) != std::end(kClusterScoped);
}

Rule NamespacedPart(const Rule& rule) {
  Rule part = rule;
  part.non_resource_urls.clear();
  std::erase_if(part.resources,
                [&](const std::string& resource) { return InNoNamespace(rule, resource); });
  return part;
}

Rule ClusterPart(const Rule& rule) {
  Rule part = rule;
  std::erase_if(part.resources,
                [&](const std::string& resource) { return !InNoNamespace(rule, resource); });
  return part;
}

}  // namespace mandate::rbac
