#include "testing/environment/grants.h"

#include <map>
#include <set>
#include <span>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr char kRbac[] = "rbac.authorization.k8s.io";
constexpr KindInfo kRole = BuiltIn(kRbac, "Role", "roles");
constexpr KindInfo kRoleBinding = BuiltIn(kRbac, "RoleBinding", "rolebindings");
constexpr KindInfo kClusterRole = BuiltIn(kRbac, "ClusterRole", "clusterroles", Scope::kCluster);
constexpr KindInfo kClusterRoleBinding =
    BuiltIn(kRbac, "ClusterRoleBinding", "clusterrolebindings", Scope::kCluster);
constexpr KindInfo kServiceAccount = BuiltIn("", "ServiceAccount", "serviceaccounts");
constexpr KindInfo kLease = BuiltIn("coordination.k8s.io", "Lease", "leases");

constexpr std::string_view kHold[] = {"get", "update"};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr std::string_view kCreate[] = {"create"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kTokens[] = {"serviceaccounts/token"};
constexpr rbac::MandateRule kBaseRules[] = {
    {{kHold, kCoordination, kLeases, {}, {}}, rbac::kManagerNamespace, false},
    {{kCreate, kCore, kTokens, {}, {}}, rbac::kManagerNamespace, false}};

ApiObject Named(const KindInfo& kind, const std::string& ns, const std::string& name) {
  ApiObject object{kind, {}};
  object.json["apiVersion"] = kind.ApiVersion();
  object.json["kind"] = std::string(kind.kind);
  object.json["metadata"]["name"] = name;
  if (!ns.empty()) object.json["metadata"]["namespace"] = ns;
  return object;
}

void Append(std::span<const std::string_view> items, Json::Value& list) {
  for (const std::string_view item : items) list.append(std::string(item));
}

Json::Value RuleOf(const rbac::RuleView& rule) {
  Json::Value json;
  Append(rule.verbs, json["verbs"]);
  if (!rule.api_groups.empty()) Append(rule.api_groups, json["apiGroups"]);
  if (!rule.resources.empty()) Append(rule.resources, json["resources"]);
  if (!rule.resource_names.empty()) Append(rule.resource_names, json["resourceNames"]);
  if (!rule.non_resource_urls.empty()) Append(rule.non_resource_urls, json["nonResourceURLs"]);
  return json;
}

ApiObject Role(const std::string& in, const std::string& name, Json::Value rules) {
  ApiObject role = Named(in.empty() ? kClusterRole : kRole, in, name);
  role.json["rules"] = std::move(rules);
  return role;
}

ApiObject Binding(const KindInfo& role_kind, const std::string& in, const std::string& role,
                  const std::string& ns, const std::string& account) {
  ApiObject binding = Named(in.empty() ? kClusterRoleBinding : kRoleBinding, in, role);
  binding.json["roleRef"]["apiGroup"] = kRbac;
  binding.json["roleRef"]["kind"] = std::string(role_kind.kind);
  binding.json["roleRef"]["name"] = role;
  Json::Value& subject = binding.json["subjects"][0];
  subject["kind"] = "ServiceAccount";
  subject["namespace"] = ns;
  subject["name"] = account;
  return binding;
}

std::string RoleName(const std::string& ns, const rbac::Mandate& component) {
  return StrCat(AccountOf(component), ".", ns);
}
std::string ExternalRoleName(const std::string& ns, const rbac::Mandate& component) {
  return RoleName(ns, component) + ".external";
}

std::string In(const rbac::MandateRule& rule, const std::string& ns) {
  return rule.ns == rbac::kManagerNamespace ? ns : std::string(rule.ns);
}

}  // namespace

constinit const rbac::Mandate kTestBase = {"base", kBaseRules};

ObjectKey ApiObject::Key() const {
  const Json::Value& metadata = json["metadata"];
  return {metadata["namespace"].asString(), metadata["name"].asString()};
}

std::string AccountOf(const rbac::Mandate& component) {
  return StrCat(kBaseAccount, "-", component.component);
}

std::vector<ApiObject> RolesOf(const std::string& ns, const rbac::Mandate& declared,
                               const rbac::Mandate& granted) {
  std::map<std::string, Json::Value> rules;  // by namespace
  Json::Value external(Json::arrayValue);
  bool has_external = false;
  for (const rbac::MandateRule& r : declared.rules) {
    has_external = has_external || r.external;
    if (!r.external) rules.try_emplace(In(r, ns), Json::arrayValue);
  }
  for (const rbac::MandateRule& r : granted.rules) {
    (r.external ? external : rules[In(r, ns)]).append(RuleOf(r.rule));
  }
  std::vector<ApiObject> roles;
  for (auto& [in, of] : rules) roles.push_back(Role(in, RoleName(ns, declared), std::move(of)));
  if (has_external) {
    roles.push_back(Role("", ExternalRoleName(ns, declared), std::move(external)));
  }
  return roles;
}

std::vector<ApiObject> SubjectsOf(const std::string& ns, const rbac::Mandate& component) {
  const std::string account = AccountOf(component);
  std::vector<ApiObject> objects = {Named(kServiceAccount, ns, account)};
  std::set<std::string> bound;
  for (const rbac::MandateRule& r : component.rules) {
    const std::string in = In(r, ns);
    if (r.external || !bound.insert(in).second) continue;
    const KindInfo& role = in.empty() ? kClusterRole : kRole;
    objects.push_back(Binding(role, in, RoleName(ns, component), ns, account));
  }
  return objects;
}

std::vector<ApiObject> ExternalGrantOf(const std::string& ns, const rbac::Mandate& component,
                                       const ObjectKey& where) {
  const std::string account = AccountOf(component);
  std::string name = ExternalRoleName(ns, component);
  if (where.name.empty()) return {Binding(kClusterRole, where.ns, name, ns, account)};
  StrAppend(&name, ".", where.name);
  Json::Value rules(Json::arrayValue);
  const std::string_view names[] = {where.name};
  for (const rbac::MandateRule& r : component.rules) {
    if (!r.external || r.rule.resources.empty()) continue;
    rbac::RuleView rule = r.rule;
    rule.resource_names = names;
    rules.append(RuleOf(rule));
  }
  return {Role(where.ns, name, std::move(rules)),
          Binding(where.ns.empty() ? kClusterRole : kRole, where.ns, name, ns, account)};
}

std::vector<ApiObject> ObjectsOfBase(const std::string& ns,
                                     const std::vector<const rbac::Mandate*>& components) {
  Json::Value tokens;
  tokens["verbs"].append("create");
  tokens["apiGroups"].append("");
  tokens["resources"].append("serviceaccounts/token");
  for (const rbac::Mandate* c : components) tokens["resourceNames"].append(AccountOf(*c));
  Json::Value lease = RuleOf(kBaseRules[0].rule);
  lease["resourceNames"].append(kBaseAccount);
  Json::Value rules;
  rules.append(lease);
  // A rule without names would be for every ServiceAccount.
  if (!components.empty()) rules.append(tokens);
  return {Named(kServiceAccount, ns, kBaseAccount), Role(ns, kBaseAccount, std::move(rules)),
          Binding(kRole, ns, kBaseAccount, ns, kBaseAccount), Named(kLease, ns, kBaseAccount)};
}

std::vector<std::string> NamespacesOf(const rbac::Mandate& component) {
  std::vector<std::string> namespaces;
  for (const rbac::MandateRule& r : component.rules) {
    if (!r.ns.empty() && r.ns != rbac::kManagerNamespace) namespaces.emplace_back(r.ns);
  }
  return namespaces;
}

}  // namespace mandate
