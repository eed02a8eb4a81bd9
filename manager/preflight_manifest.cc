#include "manager/preflight_manifest.h"

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/rbac/normalize.h"
#include "manager/rbac/user.h"

namespace mandate {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

void AppendList(std::string_view key, const std::vector<std::string>& values, std::string& yaml) {
  if (values.empty()) return;
  StrAppend(&yaml, yaml.ends_with("- ") ? "" : "  ", key, ": [");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) yaml += ", ";
    AppendJsonString(values[i], yaml);
  }
  yaml += "]\n";
}

std::string Metadata(const GrantToApply& grant, std::string_view name) {
  std::string yaml = StrCat("metadata:\n  name: ", name, "\n");
  if (!grant.ns.empty()) StrAppend(&yaml, "  namespace: ", grant.ns, "\n");
  return yaml;
}

std::string Subject(const std::string& user) {
  if (const auto account = rbac::ParseServiceAccountUser(user)) {
    return StrCat("- kind: ServiceAccount\n  name: ", account->name, "\n  namespace: ", account->ns,
                  "\n");
  }
  std::string yaml = StrCat("- apiGroup: ", kGroup, "\n  kind: User\n  name: ");
  AppendJsonString(user, yaml);
  return yaml + "\n";
}

}  // namespace

std::string GrantManifest(const GrantToApply& grant) {
  const std::string_view kind = grant.ns.empty() ? "ClusterRole" : "Role";
  std::string yaml = StrCat("apiVersion: ", kGroup, "/v1\nkind: ", kind, "\n",
                            Metadata(grant, grant.role), "rules:\n");
  for (const rbac::Rule& rule : rbac::NormalizeRules(grant.rules)) {
    yaml += "- ";
    AppendList("apiGroups", rule.api_groups, yaml);
    AppendList("nonResourceURLs", rule.non_resource_urls, yaml);
    AppendList("resourceNames", rule.resource_names, yaml);
    AppendList("resources", rule.resources, yaml);
    AppendList("verbs", rule.verbs, yaml);
  }
  StrAppend(&yaml, "---\napiVersion: ", kGroup, "/v1\nkind: ", kind, "Binding\n",
            Metadata(grant, grant.binding), "roleRef:\n  apiGroup: ", kGroup, "\n  kind: ", kind,
            "\n  name: ", grant.role, "\nsubjects:\n", Subject(grant.user));
  return yaml;
}

}  // namespace mandate
