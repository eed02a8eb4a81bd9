#include "rbacgen/danger.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kCertificates = "certificates.k8s.io";

constexpr std::string_view kReads = "get list watch";
constexpr std::string_view kMakes = "create update patch";
constexpr std::string_view kWrites = "create update patch delete deletecollection";
constexpr std::string_view kConnects = "create get";

constexpr std::string_view kRuns = "runs as any ServiceAccount there";
constexpr std::string_view kCommands = "runs commands in any pod there";
constexpr std::string_view kPorts = "reaches every port of any pod there";
constexpr std::string_view kActs = "acts as these ServiceAccounts";
constexpr std::string_view kGrants = "hands out roles that it does not hold";
constexpr std::string_view kEscalates = "writes roles with rights that it does not hold";
constexpr std::string_view kChanges = "changes whatever anybody writes";
constexpr std::string_view kRefuses = "sees and refuses whatever anybody writes";
constexpr std::string_view kSigns = "makes certificates for any user";

using enum Danger::Becomes;

constexpr Danger kDangers[] = {
    // Whom it becomes.
    {"create", "", "serviceaccounts", "token", kActs},
    {"impersonate", "", "serviceaccounts", "", kActs},
    {"impersonate", "", "users", "", "acts as these users"},
    {"impersonate", "", "groups", "", "acts with the rights of these groups"},
    {"create", "", "serviceaccounts", "", "makes ServiceAccounts that bindings name already"},
    // Who may do what.
    {"escalate", kRbac, "clusterroles", "", kEscalates},
    {"escalate", kRbac, "roles", "", kEscalates},
    {"bind", kRbac, "clusterroles", "", kGrants},
    {"bind", kRbac, "roles", "", kGrants},
    {kMakes, kRbac, "clusterroles", "", "changes what others may do"},
    {kMakes, kRbac, "roles", "", "changes what others may do"},
    {kMakes, kRbac, "clusterrolebindings", "", "hands out what it holds"},
    {kMakes, kRbac, "rolebindings", "", "hands out what it holds"},
    // What runs in pods.
    {"create", "", "pods", "", kRuns, kAccountsOfNamespace},
    {"update patch", "", "pods", "", "runs images of its choice in any pod there",
     kAccountsOfNamespace},
    {kMakes, "", "replicationcontrollers", "", kRuns, kAccountsOfNamespace},
    {kMakes, "apps", "deployments", "", kRuns, kAccountsOfNamespace},
    {kMakes, "apps", "daemonsets", "", kRuns, kAccountsOfNamespace},
    {kMakes, "apps", "statefulsets", "", kRuns, kAccountsOfNamespace},
    {kMakes, "apps", "replicasets", "", kRuns, kAccountsOfNamespace},
    {"create", "batch", "jobs", "", kRuns, kAccountsOfNamespace},
    {kMakes, "batch", "cronjobs", "", kRuns, kAccountsOfNamespace},
    // Code inside somebody's container, or its ports.
    {kConnects, "", "pods", "exec", kCommands, kAccountsOfNamespace},
    {kConnects, "", "pods", "attach", "speaks to any pod's process there", kAccountsOfNamespace},
    {"update patch", "", "pods", "ephemeralcontainers", kCommands, kAccountsOfNamespace},
    {kConnects, "", "pods", "portforward", kPorts},
    {"create get update patch delete", "", "pods", "proxy", kPorts},
    {"create get update patch delete", "", "services", "proxy", kPorts},
    // Nodes: the kubelet's API, and what decides where pods run.
    {"create get update patch delete", "", "nodes", "proxy",
     "runs commands in any pod of the cluster", Danger::Becomes::kAccounts},
    {"create update patch", "", "nodes", "", "decides which pods a node gets"},
    {"update patch", "", "nodes", "status", "decides which pods a node gets"},
    {kMakes, "", "persistentvolumes", "", "mounts any folder of a node"},
    // Credentials.
    {kReads, "", "secrets", "", "reads credentials"},
    {kMakes, "", "secrets", "", "replaces credentials, and makes tokens of ServiceAccounts"},
    {"update patch", kCertificates, "certificatesigningrequests", "approval", kSigns},
    {"update patch", kCertificates, "certificatesigningrequests", "status", kSigns},
    {"approve sign", kCertificates, "signers", "", kSigns},
    {kMakes, "", "configmaps", "", "decides which users of AWS have which rights", kNobody,
     "aws-auth"},
    {kMakes, "", "configmaps", "", "decides where names lead", kNobody, "coredns"},
    // Other users' writes, and the kinds that the server has.
    {kWrites, kAdmission, "mutatingwebhookconfigurations", "", kChanges},
    {kWrites, kAdmission, "mutatingadmissionpolicies", "", kChanges},
    {kWrites, kAdmission, "mutatingadmissionpolicybindings", "", kChanges},
    {kWrites, kAdmission, "validatingwebhookconfigurations", "", kRefuses},
    {kWrites, kAdmission, "validatingadmissionpolicies", "", kRefuses},
    {kWrites, kAdmission, "validatingadmissionpolicybindings", "", kRefuses},
    {kWrites, "apiextensions.k8s.io", "customresourcedefinitions", "",
     "changes kinds, and deletes them with all their objects"},
    {kWrites, "apiregistration.k8s.io", "apiservices", "", "answers in the API server's place"},
    {"update patch", "", "namespaces", "", "changes the labels that admission and selectors trust"},
    {"delete", "", "namespaces", "", "deletes all that is in a namespace"},
};

}  // namespace

std::vector<std::string_view> Danger::Verbs() const {
  std::vector<std::string_view> all;
  for (size_t at = 0; at < verbs.size();) {
    const size_t end = std::min(verbs.find(' ', at), verbs.size());
    all.push_back(verbs.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::string_view Danger::VerbOf(const rbac::Rule& rule) const {
  if (!rbac::GroupMatches(rule, group) || !rbac::ResourceMatches(rule, resource, subresource)) {
    return "";
  }
  if (!name.empty() && std::ranges::find(rule.resource_names, name) == rule.resource_names.end()) {
    return "";
  }
  const std::vector<std::string_view> any = Verbs();
  const auto found =
      std::ranges::find_if(any, [&](auto verb) { return rbac::VerbMatches(rule, verb); });
  return found == any.end() ? "" : *found;
}

std::span<const Danger> Dangers() { return kDangers; }

std::string_view DangerOfUrls(const rbac::Rule& rule) {
  constexpr std::pair<std::string_view, std::string_view> kPaths[] = {
      {"/debug/pprof", "reads the API server's memory"},
      {"/logs/", "reads the logs of the API server's machine"}};
  for (const auto& [path, consequence] : kPaths) {
    for (const std::string& url : rule.non_resource_urls) {
      if (url.starts_with(path) || rbac::UrlMatches(rule, path)) return consequence;
    }
  }
  return "";
}

}  // namespace mandate::rbacgen
