#include "rbacgen/analysis/question.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "manager/core/strings.h"
#include "rbacgen/builtin_lint.h"
#include "rbacgen/builtin_resources.h"
#include "rbacgen/declarations.h"

namespace mandate::rbacgen {
namespace {

// Kubernetes' own resources outside the core group, where only one group has the name.
const std::map<std::string_view, std::string_view>& KnownGroups() {
  static const auto& groups = *new std::map<std::string_view, std::string_view>{
      {"apiservices", "apiregistration.k8s.io"},
      {"certificatesigningrequests", "certificates.k8s.io"},
      {"clusterrolebindings", "rbac.authorization.k8s.io"},
      {"clusterroles", "rbac.authorization.k8s.io"},
      {"controllerrevisions", "apps"},
      {"cronjobs", "batch"},
      {"csidrivers", "storage.k8s.io"},
      {"csinodes", "storage.k8s.io"},
      {"customresourcedefinitions", "apiextensions.k8s.io"},
      {"daemonsets", "apps"},
      {"deployments", "apps"},
      {"endpointslices", "discovery.k8s.io"},
      {"flowschemas", "flowcontrol.apiserver.k8s.io"},
      {"horizontalpodautoscalers", "autoscaling"},
      {"ingressclasses", "networking.k8s.io"},
      {"ingresses", "networking.k8s.io"},
      {"jobs", "batch"},
      {"leases", "coordination.k8s.io"},
      {"localsubjectaccessreviews", "authorization.k8s.io"},
      {"mutatingwebhookconfigurations", "admissionregistration.k8s.io"},
      {"networkpolicies", "networking.k8s.io"},
      {"poddisruptionbudgets", "policy"},
      {"priorityclasses", "scheduling.k8s.io"},
      {"prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io"},
      {"replicasets", "apps"},
      {"rolebindings", "rbac.authorization.k8s.io"},
      {"roles", "rbac.authorization.k8s.io"},
      {"runtimeclasses", "node.k8s.io"},
      {"selfsubjectaccessreviews", "authorization.k8s.io"},
      {"selfsubjectreviews", "authentication.k8s.io"},
      {"selfsubjectrulesreviews", "authorization.k8s.io"},
      {"statefulsets", "apps"},
      {"storageclasses", "storage.k8s.io"},
      {"subjectaccessreviews", "authorization.k8s.io"},
      {"tokenreviews", "authentication.k8s.io"},
      {"validatingadmissionpolicies", "admissionregistration.k8s.io"},
      {"validatingadmissionpolicybindings", "admissionregistration.k8s.io"},
      {"validatingwebhookconfigurations", "admissionregistration.k8s.io"},
      {"volumeattachments", "storage.k8s.io"},
  };
  return groups;
}

constexpr std::string_view kCore[] = {
    "bindings",          "configmaps", "endpoints",       "events",
    "limitranges",       "namespaces", "nodes",           "persistentvolumeclaims",
    "persistentvolumes", "pods",       "podtemplates",    "replicationcontrollers",
    "resourcequotas",    "secrets",    "serviceaccounts", "services"};

// The only group in which the policy's rules name the resource.
std::optional<std::string> GroupInRules(const rbac::Policy& policy, std::string_view resource) {
  std::set<std::string> groups;
  const auto look = [&](const std::vector<rbac::Rule>& rules) {
    for (const rbac::Rule& rule : rules) {
      for (const std::string& r : rule.resources) {
        if (r.substr(0, r.find('/')) != resource) continue;
        for (const std::string& group : rule.api_groups) {
          if (group != "*") groups.insert(group);
        }
      }
    }
  };
  for (const auto& role : policy.cluster_roles) look(role.rules);
  for (const auto& role : policy.roles) look(role.rules);
  if (groups.size() != 1) return std::nullopt;
  return *groups.begin();
}

std::string GroupOf(const std::string& resource, const rbac::Policy& policy) {
  if (const auto known = KnownGroups().find(resource); known != KnownGroups().end()) {
    return std::string(known->second);
  }
  for (const std::string_view core : kCore) {
    if (resource == core) return "";
  }
  return GroupInRules(policy, resource).value_or("");
}

}  // namespace

absl::StatusOr<rbac::Attributes> ParseQuestion(const QuestionText& text,
                                               const rbac::Policy& policy) {
  rbac::Attributes a;
  a.verb = text.verb;
  if (text.verb.empty()) return absl::InvalidArgumentError("the verb is empty");
  if (text.resource.starts_with("/")) {
    if (!text.ns.empty() || !text.subresource.empty()) {
      return absl::InvalidArgumentError(
          StrCat(text.resource, " is a path: it has no namespace and no subresource"));
    }
    a.is_resource_request = false;
    a.path = text.resource;
    return a;
  }
  const size_t slash = text.resource.find('/');
  std::string type = text.resource.substr(0, slash);
  if (slash != std::string::npos) a.name = text.resource.substr(slash + 1);
  if (type.empty() || (slash != std::string::npos && a.name.empty()) ||
      a.name.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(
        StrCat("\"", text.resource, "\" is no RESOURCE, RESOURCE.GROUP, RESOURCE/NAME or /PATH"));
  }
  const size_t dot = type.find('.');
  if (type == "*") {
    a.resource = "*";
    a.api_group = "*";
  } else {
    a.resource = type.substr(0, dot);
    a.api_group = dot == std::string::npos ? GroupOf(a.resource, policy) : type.substr(dot + 1);
  }
  a.subresource = text.subresource;
  a.ns = text.ns;
  return a;
}

std::vector<std::string> QuestionDoubts(const QuestionText& text, const rbac::Attributes& request) {
  std::vector<std::string> doubts;
  if (!request.is_resource_request || request.resource == "*") return doubts;
  const std::string target = request.subresource.empty()
                                 ? request.resource
                                 : StrCat(request.resource, "/", request.subresource);
  if (request.subresource.empty() && !request.name.empty() &&
      (request.name == "status" || request.name == "scale" || request.name == "finalizers" ||
       FindBuiltin(request.api_group, StrCat(request.resource, "/", request.name)) != nullptr)) {
    doubts.push_back(StrCat("\"", request.name, "\" is taken as the name of one of ",
                            request.resource, ", as kubectl takes it; the subresource is ",
                            text.resource.substr(0, text.resource.find('/')),
                            " --subresource=", request.name));
  }
  Declaration asked;
  asked.rule = {{request.verb}, {request.api_group}, {target}, {}, {}};
  LintBuiltins(asked, &doubts);
  for (const std::string& doubt : DoubtfulBuiltins(asked)) {
    doubts.push_back(doubt.substr(0, doubt.find(';')) + "; write RESOURCE.GROUP for another");
  }
  return doubts;
}

}  // namespace mandate::rbacgen
