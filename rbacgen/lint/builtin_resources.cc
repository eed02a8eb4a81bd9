#include "rbacgen/lint/builtin_resources.h"

#include <algorithm>

#include "manager/core/near_name.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kObject = "create delete deletecollection get list patch update watch";
constexpr std::string_view kPart = "get patch update";
// Constrained impersonation uses the verb "impersonate:" and the kind of the identity.
constexpr std::string_view kImpersonate = "impersonate";

constexpr BuiltinResource kResources[] = {
    // clang-format off
    {"", "bindings", true, "create"},
    {"", "componentstatuses", false, "get list"},
    {"", "configmaps", true, kObject},
    {"", "endpoints", true, kObject},
    {"", "events", true, kObject},
    {"", "limitranges", true, kObject},
    {"", "namespaces", false, "create delete get list patch update watch"},
    {"", "namespaces/finalize", false, "update"},
    {"", "namespaces/status", false, kPart},
    {"", "nodes", false, kObject},
    {"", "nodes/proxy", false, "create delete get patch update"},
    {"", "nodes/status", false, kPart},
    {"", "persistentvolumeclaims", true, kObject},
    {"", "persistentvolumeclaims/status", true, kPart},
    {"", "persistentvolumes", false, kObject},
    {"", "persistentvolumes/status", false, kPart},
    {"", "pods", true, kObject},
    {"", "pods/attach", true, "create get"},
    {"", "pods/binding", true, "create"},
    {"", "pods/ephemeralcontainers", true, kPart},
    {"", "pods/eviction", true, "create"},
    {"", "pods/exec", true, "create get"},
    {"", "pods/log", true, "get"},
    {"", "pods/portforward", true, "create get"},
    {"", "pods/proxy", true, "create delete get patch update"},
    {"", "pods/resize", true, kPart},
    {"", "pods/status", true, kPart},
    {"", "podtemplates", true, kObject},
    {"", "replicationcontrollers", true, kObject},
    {"", "replicationcontrollers/scale", true, kPart},
    {"", "replicationcontrollers/status", true, kPart},
    {"", "resourcequotas", true, kObject},
    {"", "resourcequotas/status", true, kPart},
    {"", "secrets", true, kObject},
    {"", "serviceaccounts", true, kObject},
    {"", "serviceaccounts/token", true, "create"},
    {"", "services", true, kObject},
    {"", "services/proxy", true, "create delete get patch update"},
    {"", "services/status", true, kPart},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies", false, kObject},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", false, kObject},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", false, kObject},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies", false, kObject},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies/status", false, kPart},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings", false, kObject},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations", false, kObject},
    {"apiextensions.k8s.io", "customresourcedefinitions", false, kObject},
    {"apiextensions.k8s.io", "customresourcedefinitions/status", false, kPart},
    {"apiregistration.k8s.io", "apiservices", false, kObject},
    {"apiregistration.k8s.io", "apiservices/status", false, kPart},
    {"apps", "controllerrevisions", true, kObject},
    {"apps", "daemonsets", true, kObject},
    {"apps", "daemonsets/status", true, kPart},
    {"apps", "deployments", true, kObject},
    {"apps", "deployments/scale", true, kPart},
    {"apps", "deployments/status", true, kPart},
    {"apps", "replicasets", true, kObject},
    {"apps", "replicasets/scale", true, kPart},
    {"apps", "replicasets/status", true, kPart},
    {"apps", "statefulsets", true, kObject},
    {"apps", "statefulsets/scale", true, kPart},
    {"apps", "statefulsets/status", true, kPart},
    {"authentication.k8s.io", "selfsubjectreviews", false, "create"},
    {"authentication.k8s.io", "tokenreviews", false, "create"},
    {"authorization.k8s.io", "localsubjectaccessreviews", true, "create"},
    {"authorization.k8s.io", "selfsubjectaccessreviews", false, "create"},
    {"authorization.k8s.io", "selfsubjectrulesreviews", false, "create"},
    {"authorization.k8s.io", "subjectaccessreviews", false, "create"},
    {"autoscaling", "horizontalpodautoscalers", true, kObject},
    {"autoscaling", "horizontalpodautoscalers/status", true, kPart},
    {"batch", "cronjobs", true, kObject},
    {"batch", "cronjobs/status", true, kPart},
    {"batch", "jobs", true, kObject},
    {"batch", "jobs/status", true, kPart},
    {"certificates.k8s.io", "certificatesigningrequests", false, kObject},
    {"certificates.k8s.io", "certificatesigningrequests/approval", false, kPart},
    {"certificates.k8s.io", "certificatesigningrequests/status", false, kPart},
    {"certificates.k8s.io", "clustertrustbundles", false, kObject},
    {"certificates.k8s.io", "podcertificaterequests", true, kObject},
    {"certificates.k8s.io", "podcertificaterequests/status", true, kPart},
    {"coordination.k8s.io", "leasecandidates", true, kObject},
    {"coordination.k8s.io", "leases", true, kObject},
    {"discovery.k8s.io", "endpointslices", true, kObject},
    {"events.k8s.io", "events", true, kObject},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", false, kObject},
    {"flowcontrol.apiserver.k8s.io", "flowschemas/status", false, kPart},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", false, kObject},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations/status", false, kPart},
    {"internal.apiserver.k8s.io", "storageversions", false, kObject},
    {"internal.apiserver.k8s.io", "storageversions/status", false, kPart},
    {"networking.k8s.io", "ingressclasses", false, kObject},
    {"networking.k8s.io", "ingresses", true, kObject},
    {"networking.k8s.io", "ingresses/status", true, kPart},
    {"networking.k8s.io", "ipaddresses", false, kObject},
    {"networking.k8s.io", "networkpolicies", true, kObject},
    {"networking.k8s.io", "servicecidrs", false, kObject},
    {"networking.k8s.io", "servicecidrs/status", false, kPart},
    {"node.k8s.io", "runtimeclasses", false, kObject},
    {"policy", "poddisruptionbudgets", true, kObject},
    {"policy", "poddisruptionbudgets/status", true, kPart},
    {"rbac.authorization.k8s.io", "clusterrolebindings", false, kObject},
    {"rbac.authorization.k8s.io", "clusterroles", false, kObject},
    {"rbac.authorization.k8s.io", "rolebindings", true, kObject},
    {"rbac.authorization.k8s.io", "roles", true, kObject},
    {"resource.k8s.io", "deviceclasses", false, kObject},
    {"resource.k8s.io", "devicetaintrules", false, kObject},
    {"resource.k8s.io", "devicetaintrules/status", false, kPart},
    {"resource.k8s.io", "resourceclaims", true, kObject},
    {"resource.k8s.io", "resourceclaims/status", true, kPart},
    {"resource.k8s.io", "resourceclaimtemplates", true, kObject},
    {"resource.k8s.io", "resourcepoolstatusrequests", false, kObject},
    {"resource.k8s.io", "resourcepoolstatusrequests/status", false, kPart},
    {"resource.k8s.io", "resourceslices", false, kObject},
    {"scheduling.k8s.io", "podgroups", true, kObject},
    {"scheduling.k8s.io", "podgroups/status", true, kPart},
    {"scheduling.k8s.io", "priorityclasses", false, kObject},
    {"scheduling.k8s.io", "workloads", true, kObject},
    {"storage.k8s.io", "csidrivers", false, kObject},
    {"storage.k8s.io", "csinodes", false, kObject},
    {"storage.k8s.io", "csistoragecapacities", true, kObject},
    {"storage.k8s.io", "storageclasses", false, kObject},
    {"storage.k8s.io", "volumeattachments", false, kObject},
    {"storage.k8s.io", "volumeattachments/status", false, kPart},
    {"storage.k8s.io", "volumeattributesclasses", false, kObject},
    {"storagemigration.k8s.io", "storageversionmigrations", false, kObject},
    {"storagemigration.k8s.io", "storageversionmigrations/status", false, kPart},
    // Resources that are authorized but never served.
    {"", "users", false, kImpersonate},
    {"", "groups", false, kImpersonate},
    {"", "nodes/checkpoint", false, "create"},
    {"", "nodes/configz", false, "get"},
    {"", "nodes/healthz", false, "get"},
    {"", "nodes/log", false, "get"},
    {"", "nodes/metrics", false, "create get"},
    {"", "nodes/pods", false, "get"},
    {"", "nodes/spec", false, "get"},
    {"", "nodes/stats", false, "create get"},
    {"authentication.k8s.io", "groups", false, kImpersonate},
    {"authentication.k8s.io", "nodes", false, kImpersonate},
    {"authentication.k8s.io", "serviceaccounts", true, kImpersonate},
    {"authentication.k8s.io", "uids", false, kImpersonate},
    {"authentication.k8s.io", "userextras", false, kImpersonate},
    {"authentication.k8s.io", "users", false, kImpersonate},
    {"certificates.k8s.io", "signers", false, "approve attest sign"},
    {"policy", "podsecuritypolicies", true, "use"},
    // clang-format on
};

constexpr BuiltinShortName kShortNames[] = {
    // clang-format off
    {"", "componentstatuses", "cs"},
    {"", "configmaps", "cm"},
    {"", "endpoints", "ep"},
    {"", "events", "ev"},
    {"", "limitranges", "limits"},
    {"", "namespaces", "ns"},
    {"", "nodes", "no"},
    {"", "persistentvolumeclaims", "pvc"},
    {"", "persistentvolumes", "pv"},
    {"", "pods", "po"},
    {"", "replicationcontrollers", "rc"},
    {"", "resourcequotas", "quota"},
    {"", "serviceaccounts", "sa"},
    {"", "services", "svc"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "crd"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "crds"},
    {"apps", "daemonsets", "ds"},
    {"apps", "deployments", "deploy"},
    {"apps", "replicasets", "rs"},
    {"apps", "statefulsets", "sts"},
    {"autoscaling", "horizontalpodautoscalers", "hpa"},
    {"batch", "cronjobs", "cj"},
    {"certificates.k8s.io", "certificatesigningrequests", "csr"},
    {"events.k8s.io", "events", "ev"},
    {"networking.k8s.io", "ingresses", "ing"},
    {"networking.k8s.io", "ipaddresses", "ip"},
    {"networking.k8s.io", "networkpolicies", "netpol"},
    {"policy", "poddisruptionbudgets", "pdb"},
    {"scheduling.k8s.io", "priorityclasses", "pc"},
    {"storage.k8s.io", "storageclasses", "sc"},
    {"storage.k8s.io", "volumeattributesclasses", "vac"},
    // clang-format on
};

}  // namespace

std::span<const BuiltinResource> BuiltinResources() { return kResources; }
std::span<const BuiltinShortName> BuiltinShortNames() { return kShortNames; }

bool IsBuiltinGroup(std::string_view group) {
  return std::any_of(std::begin(kResources), std::end(kResources),
                     [&](const BuiltinResource& r) { return r.group == group; });
}

const BuiltinResource* FindBuiltin(std::string_view group, std::string_view resource) {
  for (const BuiltinResource& r : kResources) {
    if (r.group == group && r.resource == resource) return &r;
  }
  constexpr std::string_view kFinalizers = "/finalizers";
  static constexpr BuiltinResource kAnyFinalizers = {"", "finalizers", true, "update"};
  static constexpr BuiltinResource kAnyClusterFinalizers = {"", "finalizers", false, "update"};
  if (!resource.ends_with(kFinalizers)) return nullptr;
  resource.remove_suffix(kFinalizers.size());
  const BuiltinResource* of = FindBuiltin(group, resource);
  if (of == nullptr) return nullptr;
  return of->namespaced ? &kAnyFinalizers : &kAnyClusterFinalizers;
}

const BuiltinResource* NearestBuiltin(std::span<const std::string> groups,
                                      std::string_view resource) {
  // In a short word, two changed letters would make a different word.
  const size_t limit = resource.size() < 5 ? 1 : 2;
  const BuiltinResource* nearest = nullptr;
  size_t best = 2 * limit + 2;
  for (const BuiltinResource& r : kResources) {
    const size_t distance = EditDistance(resource, r.resource);
    if (distance > limit) continue;
    const bool of_groups =
        std::any_of(groups.begin(), groups.end(), [&](std::string_view g) { return g == r.group; });
    const size_t score = 2 * distance + (of_groups ? 0 : 1);
    if (score >= best) continue;
    best = score;
    nearest = &r;
  }
  return nearest;
}

bool KnowsVerb(const BuiltinResource& resource, std::string_view verb) {
  for (std::string_view rest = resource.verbs; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view known = rest.substr(0, end);
    // Constrained impersonation, such as impersonate:serviceaccount.
    if (verb == known || (known == kImpersonate && verb.starts_with("impersonate:"))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace mandate::rbacgen
