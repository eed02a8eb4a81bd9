#include "controllers/scope/testing_accounts.h"

#include <yaml-cpp/yaml.h>

#include <span>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::scope {
namespace {

constexpr char kRbac[] = "rbac.authorization.k8s.io/v1";

Json::Value Strings(std::span<const std::string_view> strings) {
  Json::Value list(Json::arrayValue);
  for (const std::string_view s : strings) list.append(std::string(s));
  return list;
}

}  // namespace

std::string AccountOf(const rbac::Mandate& mandate) {
  return StrCat(kBase, "-", mandate.component);
}

std::string Account(const std::string& name) {
  return StrCat(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":")",
                kNamespace, R"(","name":")", name, R"("}})");
}

// A binding of the role of this name to the ServiceAccount of this name.
std::string BindingTo(std::string_view kind, std::string_view role_kind, const std::string& name) {
  const std::string ns = role_kind == "Role" ? StrCat(R"("namespace":")", kNamespace, R"(",)") : "";
  return StrCat(R"({"apiVersion":")", kRbac, R"(","kind":")", kind, R"(","metadata":{)", ns,
                R"("name":")", name,
                R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")", role_kind,
                R"(","name":")", name, R"("},"subjects":[{"kind":"ServiceAccount","name":")", name,
                R"(","namespace":")", kNamespace, R"("}]})");
}

std::string MinterRole() {
  return StrCat(R"({"apiVersion":")", kRbac, R"(","kind":"Role","metadata":{"namespace":")",
                kNamespace, R"(","name":")", kBase,
                R"("},"rules":[{"apiGroups":[""],"resources":["serviceaccounts/token"],)"
                R"("verbs":["create"]}]})");
}

std::string Definition(std::string_view plural) {
  const std::string file = StrCat("charts/mandate/crds/operators.coreos.com_", plural, ".yaml");
  return WriteJson(conformance::ToJson(YAML::LoadFile(file)));
}

std::string RoleJson(const rbac::Mandate& mandate, std::string_view without_verb,
                     std::string_view unread) {
  Json::Value role;
  role["apiVersion"] = kRbac;
  role["kind"] = "ClusterRole";
  role["metadata"]["name"] = AccountOf(mandate);
  for (const rbac::MandateRule& r : mandate.rules) {
    for (const std::string_view verb : r.rule.verbs) {
      if (verb == without_verb) continue;
      Json::Value rule;
      rule["verbs"].append(std::string(verb));
      rule["apiGroups"] = Strings(r.rule.api_groups);
      for (const std::string_view resource : r.rule.resources) {
        const bool reads = verb == "list" || verb == "watch";
        if (!reads || resource != unread) rule["resources"].append(std::string(resource));
      }
      if (!rule["resources"].empty()) role["rules"].append(rule);
    }
  }
  return WriteJson(role);
}

}  // namespace mandate::scope
