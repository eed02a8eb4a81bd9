#include "testing/simulation/scope/installed.h"

#include <yaml-cpp/yaml.h>

#include <span>

#include "controllers/scope/mandates.h"
#include "manager/core/strings.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::simulation {
namespace {

constexpr char kRbac[] = "rbac.authorization.k8s.io/v1";

const std::vector<const rbac::Mandate*>& Components() {
  static const auto& all = *new std::vector<const rbac::Mandate*>{&kScopeTemplate, &kScopeInstance};
  return all;
}

Json::Value Named(std::string_view api_version, std::string_view kind, std::string_view ns,
                  const std::string& name) {
  Json::Value object;
  object["apiVersion"] = std::string(api_version);
  object["kind"] = std::string(kind);
  if (!ns.empty()) object["metadata"]["namespace"] = std::string(ns);
  object["metadata"]["name"] = name;
  return object;
}

Json::Value List(std::span<const std::string_view> strings) {
  Json::Value list(Json::arrayValue);
  for (const std::string_view s : strings) list.append(std::string(s));
  return list;
}

}  // namespace

std::string AccountOf(const rbac::Mandate& mandate) {
  return StrCat(kBaseAccount, "-", mandate.component);
}

Json::Value AccountObject(const std::string& name) {
  return Named("v1", "ServiceAccount", kManagerNamespace, name);
}

Json::Value BindingObject(std::string_view kind, std::string_view ns, const std::string& name,
                          std::string_view role_kind) {
  Json::Value binding = Named(kRbac, kind, ns, name);
  binding["roleRef"]["apiGroup"] = "rbac.authorization.k8s.io";
  binding["roleRef"]["kind"] = std::string(role_kind);
  binding["roleRef"]["name"] = name;
  Json::Value subject;
  subject["kind"] = "ServiceAccount";
  subject["name"] = name;
  subject["namespace"] = kManagerNamespace;
  binding["subjects"].append(subject);
  return binding;
}

Json::Value RulesOf(const rbac::Mandate& mandate, std::string_view without_verb,
                    std::string_view without_resource) {
  Json::Value rules(Json::arrayValue);
  for (const rbac::MandateRule& r : mandate.rules) {
    for (const std::string_view resource : r.rule.resources) {
      Json::Value rule;
      rule["apiGroups"] = List(r.rule.api_groups);
      rule["resources"].append(std::string(resource));
      for (const std::string_view verb : r.rule.verbs) {
        if (verb != without_verb || resource != without_resource) {
          rule["verbs"].append(std::string(verb));
        }
      }
      if (!r.rule.resource_names.empty()) rule["resourceNames"] = List(r.rule.resource_names);
      if (!rule["verbs"].empty()) rules.append(rule);
    }
  }
  return rules;
}

Json::Value Definition(const std::string& plural) {
  const std::string file = StrCat("charts/mandate/crds/operators.coreos.com_", plural, ".yaml");
  return conformance::ToJson(YAML::LoadFile(file));
}

namespace {

Json::Value RoleObject(const rbac::Mandate& mandate) {
  Json::Value role = Named(kRbac, "ClusterRole", "", AccountOf(mandate));
  role["rules"] = RulesOf(mandate, "", "");
  return role;
}

// Base's permissions: to create tokens of its components.
Json::Value MinterObject() {
  Json::Value role = Named(kRbac, "Role", kManagerNamespace, kBaseAccount);
  Json::Value rule;
  rule["apiGroups"].append("");
  rule["resources"].append("serviceaccounts/token");
  rule["verbs"].append("create");
  for (const rbac::Mandate* m : Components()) rule["resourceNames"].append(AccountOf(*m));
  role["rules"].append(rule);
  return role;
}

}  // namespace

std::vector<Json::Value> InstalledObjects() {
  std::vector<Json::Value> objects = {
      Definition("scopetemplates"), Definition("scopeinstances"),
      Named("v1", "Namespace", "", kManagerNamespace), MinterObject(),
      BindingObject("RoleBinding", kManagerNamespace, kBaseAccount, "Role")};
  for (const rbac::Mandate* m : Components()) {
    objects.push_back(AccountObject(AccountOf(*m)));
    objects.push_back(RoleObject(*m));
    objects.push_back(BindingObject("ClusterRoleBinding", "", AccountOf(*m), "ClusterRole"));
  }
  return objects;
}

}  // namespace mandate::simulation
