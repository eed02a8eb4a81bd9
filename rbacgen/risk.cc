#include "rbacgen/risk.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "manager/core/strings.h"
#include "rbacgen/text.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kReads = "get list watch";
constexpr std::string_view kWrites = "create update patch delete deletecollection";
constexpr std::string_view kAll = "get list watch create update patch delete deletecollection";

// A right by group and resource; `verbs` are separated by blanks.
struct RiskyRight {
  std::string_view group;
  std::string_view resource;
  std::string_view verbs;
};

constexpr RiskyRight kRiskyRights[] = {
    {"", "serviceaccounts/token", "create"},
    {"", "secrets", kReads},
    // Code inside somebody's container, or its ports.
    {"", "pods/exec", kAll},
    {"", "pods/attach", kAll},
    {"", "pods/portforward", kAll},
    {"", "pods/ephemeralcontainers", "update patch"},
    {"", "pods/proxy", kAll},
    {"", "services/proxy", kAll},
    // The kubelet's API: every container of the node.
    {"", "nodes/proxy", kAll},
    // What others may write, and sees it.
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations", kWrites},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", kWrites},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies", kWrites},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings", kWrites},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies", kWrites},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", kWrites},
    // Certificates for any user or group.
    {"certificates.k8s.io", "certificatesigningrequests/approval", "update patch"},
    {"certificates.k8s.io", "certificatesigningrequests/status", "update patch"},
    {"certificates.k8s.io", "signers", "approve sign"},
};

bool Has(const std::vector<std::string>& strings, std::string_view wanted) {
  return std::find(strings.begin(), strings.end(), wanted) != strings.end();
}

bool HasGroup(const rbac::Rule& rule, std::string_view group) {
  return Has(rule.api_groups, group) || (group.empty() && Has(rule.api_groups, "core"));
}

bool IsWord(std::string_view word, std::string_view words) {
  return StrCat(" ", words, " ").find(StrCat(" ", word, " ")) != std::string::npos;
}

// However many stars a URL ends with, what stands before them is a prefix (manager/rbac/rule.h).
bool IsEveryUrl(std::string_view url) {
  if (!url.ends_with('*')) return false;
  while (url.ends_with('*')) url.remove_suffix(1);
  return url.empty() || url == "/";
}

}  // namespace

std::optional<std::string> Risk(const rbac::Rule& rule) {
  for (const std::string& verb : rule.verbs) {
    if (verb == "*" || verb == "escalate" || verb == "bind" || verb == "impersonate" ||
        verb.starts_with("impersonate:") || verb.starts_with("impersonate-on:")) {
      return StrCat("verb ", Quoted(verb));
    }
  }
  if (Has(rule.api_groups, "*")) return "group \"*\"";
  for (const std::string& resource : rule.resources) {
    if (resource.starts_with('*')) return StrCat("resource ", Quoted(resource));
  }
  if (std::ranges::any_of(rule.non_resource_urls, IsEveryUrl)) return "every URL";
  for (const RiskyRight& right : kRiskyRights) {
    if (!HasGroup(rule, right.group) || !Has(rule.resources, right.resource)) continue;
    for (const std::string& verb : rule.verbs) {
      if (IsWord(verb, right.verbs)) return StrCat(verb, " on ", right.resource);
    }
  }
  return std::nullopt;
}

}  // namespace mandate::rbacgen
