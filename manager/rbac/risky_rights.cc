#include "manager/rbac/risky_rights.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mandate::rbac {
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
constexpr std::string_view kGrants = "grants roles that it does not hold";
constexpr std::string_view kEscalates = "writes roles with permissions that it does not hold";
constexpr std::string_view kChanges = "changes the writes of all users";
constexpr std::string_view kRefuses = "reads and denies the writes of all users";
constexpr std::string_view kSigns = "creates certificates for any user";

using enum RiskyRight::Becomes;
using enum RiskyRight::Severity;

constexpr RiskyRight kRiskyRights[] = {
    // Acting as other identities.
    {"create", "", "serviceaccounts", "token", kActs, kCritical},
    {"impersonate", "", "serviceaccounts", "", kActs, kCritical},
    {"impersonate", "", "users", "", "acts as these users", kCritical},
    {"impersonate", "", "groups", "", "acts with the permissions of these groups", kCritical},
    {"create", "", "serviceaccounts", "",
     "creates ServiceAccounts that are subjects of existing bindings", kMedium},
    // Changing rights. Without escalate and bind, a user who writes roles can grant only rights
    // that the user has.
    {"escalate", kRbac, "clusterroles", "", kEscalates, kCritical},
    {"escalate", kRbac, "roles", "", kEscalates, kCritical},
    {"bind", kRbac, "clusterroles", "", kGrants, kCritical},
    {"bind", kRbac, "roles", "", kGrants, kCritical},
    {kMakes, kRbac, "clusterroles", "", "changes the permissions of others", kMedium},
    {kMakes, kRbac, "roles", "", "changes the permissions of others", kMedium},
    {kMakes, kRbac, "clusterrolebindings", "", "grants the permissions that it holds", kMedium},
    {kMakes, kRbac, "rolebindings", "", "grants the permissions that it holds", kMedium},
    // Creating pods, or objects that create pods.
    {"create", "", "pods", "", kRuns, kCritical, kAccountsOfNamespace},
    {"update patch", "", "pods", "", "runs images of its choice in any pod there", kHigh,
     kAccountsOfNamespace},
    {kMakes, "", "replicationcontrollers", "", kRuns, kCritical, kAccountsOfNamespace},
    {kMakes, "apps", "deployments", "", kRuns, kCritical, kAccountsOfNamespace},
    {kMakes, "apps", "daemonsets", "", kRuns, kCritical, kAccountsOfNamespace},
    {kMakes, "apps", "statefulsets", "", kRuns, kCritical, kAccountsOfNamespace},
    {kMakes, "apps", "replicasets", "", kRuns, kCritical, kAccountsOfNamespace},
    {"create", "batch", "jobs", "", kRuns, kCritical, kAccountsOfNamespace},
    {kMakes, "batch", "cronjobs", "", kRuns, kCritical, kAccountsOfNamespace},
    // Running code in the containers of other identities, or connecting to their ports.
    {kConnects, "", "pods", "exec", kCommands, kHigh, kAccountsOfNamespace},
    {kConnects, "", "pods", "attach", "connects to the process of any pod there", kHigh,
     kAccountsOfNamespace},
    {"update patch", "", "pods", "ephemeralcontainers", kCommands, kHigh, kAccountsOfNamespace},
    {kConnects, "", "pods", "portforward", kPorts, kMedium},
    {"create get update patch delete", "", "pods", "proxy", kPorts, kMedium},
    {"create get update patch delete", "", "services", "proxy", kPorts, kMedium},
    // Nodes: the kubelet's API, and the fields that decide where pods run.
    {"create get update patch delete", "", "nodes", "proxy",
     "runs commands in any pod of the cluster", kHigh, kAccounts},
    {"create update patch", "", "nodes", "", "decides which pods a node gets", kHigh},
    {"update patch", "", "nodes", "status", "decides which pods a node gets", kHigh},
    {kMakes, "", "persistentvolumes", "", "mounts any folder of a node", kHigh},
    // Credentials.
    {kReads, "", "secrets", "", "reads credentials", kCritical},
    {kMakes, "", "secrets", "", "replaces credentials, and creates tokens of ServiceAccounts",
     kCritical},
    {"update patch", kCertificates, "certificatesigningrequests", "approval", kSigns, kCritical},
    {"update patch", kCertificates, "certificatesigningrequests", "status", kSigns, kCritical},
    {"approve sign", kCertificates, "signers", "", kSigns, kCritical},
    {kMakes, "", "configmaps", "", "decides the permissions of AWS users", kCritical, kNone,
     "aws-auth"},
    {kMakes, "", "configmaps", "", "decides how DNS names resolve", kHigh, kNone, "coredns"},
    // Changing the writes of other users, or the kinds that the server has.
    {kWrites, kAdmission, "mutatingwebhookconfigurations", "", kChanges, kHigh},
    {kWrites, kAdmission, "mutatingadmissionpolicies", "", kChanges, kHigh},
    {kWrites, kAdmission, "mutatingadmissionpolicybindings", "", kChanges, kHigh},
    {kWrites, kAdmission, "validatingwebhookconfigurations", "", kRefuses, kHigh},
    {kWrites, kAdmission, "validatingadmissionpolicies", "", kRefuses, kHigh},
    {kWrites, kAdmission, "validatingadmissionpolicybindings", "", kRefuses, kHigh},
    {kWrites, "apiextensions.k8s.io", "customresourcedefinitions", "",
     "changes kinds, and deletes them with all their objects", kHigh},
    {kWrites, "apiregistration.k8s.io", "apiservices", "",
     "answers requests instead of the API server", kHigh},
    {"update patch", "", "namespaces", "", "changes the labels that admission and selectors trust",
     kMedium},
    {"delete", "", "namespaces", "", "deletes all objects of a namespace", kHigh},
};

}  // namespace

std::vector<std::string_view> RiskyRight::Verbs() const {
  std::vector<std::string_view> all;
  for (size_t at = 0; at < verbs.size();) {
    const size_t end = std::min(verbs.find(' ', at), verbs.size());
    all.push_back(verbs.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::string_view RiskyRight::VerbOf(const Rule& rule) const {
  if (!GroupMatches(rule, group) || !ResourceMatches(rule, resource, subresource)) {
    return "";
  }
  if (!name.empty() && std::ranges::find(rule.resource_names, name) == rule.resource_names.end()) {
    return "";
  }
  const std::vector<std::string_view> any = Verbs();
  const auto found = std::ranges::find_if(any, [&](auto verb) { return VerbMatches(rule, verb); });
  return found == any.end() ? "" : *found;
}

std::span<const RiskyRight> RiskyRights() { return kRiskyRights; }

std::string_view RiskOfUrls(const Rule& rule) {
  constexpr std::pair<std::string_view, std::string_view> kPaths[] = {
      {"/debug/pprof", "reads the API server's memory"},
      {"/logs/", "reads the logs of the API server's host"}};
  for (const auto& [path, consequence] : kPaths) {
    for (const std::string& url : rule.non_resource_urls) {
      if (url.starts_with(path) || UrlMatches(rule, path)) return consequence;
    }
  }
  return "";
}

std::optional<RiskyRight::Severity> SeverityOf(const Rule& rule) {
  std::optional<RiskyRight::Severity> severity;
  if (!RiskOfUrls(rule).empty()) severity = kMedium;
  for (const RiskyRight& risky : RiskyRights()) {
    // An empty optional is less than any severity.
    if (!risky.VerbOf(rule).empty()) severity = std::max(severity, std::optional(risky.severity));
  }
  return severity;
}

std::string_view SeverityName(RiskyRight::Severity severity) {
  switch (severity) {
    case kMedium:
      return "medium";
    case kHigh:
      return "high";
    case kCritical:
      return "critical";
  }
  return "";
}

}  // namespace mandate::rbac
