#include "rbacgen/audit/policy_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

std::vector<std::string> Strings(const YAML::Node& node) {
  std::vector<std::string> strings;
  if (!node || !node.IsSequence()) return strings;
  for (const YAML::Node& item : node) {
    if (item.IsScalar()) strings.push_back(item.Scalar());
  }
  return strings;
}

bool Has(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool UrlHas(const std::vector<std::string>& urls, std::string_view path) {
  return std::ranges::any_of(urls, [&](std::string_view url) {
    if (!url.ends_with('*')) return url == path;
    return path.starts_with(url.substr(0, url.find_last_not_of('*') + 1));
  });
}

}  // namespace

absl::StatusOr<AuditPolicyFile> AuditPolicyFile::Parse(std::string_view yaml) {
  YAML::Node root;
  try {
    root = YAML::Load(std::string(yaml));
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(StrCat("line ", e.mark.line + 1, ": ", e.msg));
  }
  const auto text = [](const YAML::Node& node) {
    return node && node.IsScalar() ? node.Scalar() : std::string();
  };
  if (!root.IsMap() || text(root["kind"]) != "Policy" ||
      !text(root["apiVersion"]).starts_with("audit.k8s.io/")) {
    return absl::InvalidArgumentError("not a Policy of audit.k8s.io");
  }
  AuditPolicyFile policy;
  policy.omit_stages_ = Strings(root["omitStages"]);
  for (const YAML::Node& node : root["rules"]) {
    Rule rule;
    rule.level = text(node["level"]);
    if (!Has({"None", "Metadata", "Request", "RequestResponse"}, rule.level)) {
      return absl::InvalidArgumentError(
          StrCat("line ", node.Mark().line + 1, ": level \"", rule.level,
                 "\" must be one of None, Metadata, Request, RequestResponse"));
    }
    rule.users = Strings(node["users"]);
    rule.groups = Strings(node["userGroups"]);
    rule.verbs = Strings(node["verbs"]);
    rule.namespaces = Strings(node["namespaces"]);
    rule.urls = Strings(node["nonResourceURLs"]);
    rule.omit_stages = Strings(node["omitStages"]);
    for (const YAML::Node& r : node["resources"]) {
      rule.resources.push_back(
          {text(r["group"]), Strings(r["resources"]), Strings(r["resourceNames"])});
    }
    policy.rules_.push_back(std::move(rule));
  }
  return policy;
}

bool AuditPolicyFile::Logs(const rbac::UserInfo& user, const rbac::Attributes& request) const {
  const std::string_view stage = request.verb == "watch" ? "ResponseStarted" : "ResponseComplete";
  for (const Rule& rule : rules_) {
    if (!Matches(rule, user, request)) continue;
    return rule.level != "None" && !Has(rule.omit_stages, stage) && !Has(omit_stages_, stage);
  }
  return false;
}

bool AuditPolicyFile::Matches(const Rule& rule, const rbac::UserInfo& user,
                              const rbac::Attributes& request) {
  if (!rule.users.empty() && !Has(rule.users, user.name)) return false;
  if (!rule.groups.empty() && std::ranges::none_of(rule.groups, [&](const std::string& group) {
        return Has(user.groups, group);
      })) {
    return false;
  }
  if (!rule.verbs.empty() && !Has(rule.verbs, request.verb)) return false;
  if (!rule.namespaces.empty() || !rule.resources.empty()) return MatchesResource(rule, request);
  if (rule.urls.empty()) return true;
  return !request.is_resource_request && UrlHas(rule.urls, request.path);
}

bool AuditPolicyFile::MatchesResource(const Rule& rule, const rbac::Attributes& request) {
  if (!request.is_resource_request) return false;
  if (!rule.namespaces.empty() && !Has(rule.namespaces, request.ns)) return false;
  if (rule.resources.empty()) return true;
  const std::string whole = request.subresource.empty()
                                ? request.resource
                                : StrCat(request.resource, "/", request.subresource);
  for (const Resources& r : rule.resources) {
    if (r.group != request.api_group && r.group != "*") continue;
    if (r.resources.empty()) return true;
    if (!r.names.empty() && !Has(r.names, request.name)) continue;
    for (const std::string_view wanted : r.resources) {
      if (wanted == whole || wanted == "*") return true;
      if (!request.subresource.empty() && wanted.starts_with("*/") &&
          wanted.substr(2) == request.subresource) {
        return true;
      }
      // "pods/*" includes pods.
      if (wanted.ends_with("/*") && wanted.substr(0, wanted.size() - 2) == request.resource) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace mandate::rbacgen
