#include "rbacgen/emit/chart/audit_policy.h"

#include <utility>

#include "manager/rbac/rule.h"

namespace mandate::rbacgen {
namespace {

constexpr char kRbacGroup[] = "rbac.authorization.k8s.io";

Yaml User(const ChartSwitches& switches, const std::string& account) {
  return switches.WithNamespace("system:serviceaccount:", ":" + account);
}

bool MakesBindings(const ComponentMandate& component) {
  for (const Grant& grant : component.grants) {
    for (const rbac::Rule& rule : grant.rules) {
      if (grant.external || !rbac::GroupMatches(rule, kRbacGroup)) continue;
      for (const char* resource : {"rolebindings", "clusterrolebindings"}) {
        if (rbac::VerbMatches(rule, "create") && rbac::ResourceMatches(rule, resource, "")) {
          return true;
        }
      }
    }
  }
  return false;
}

// What rbacgen/audit/instance_book.h compares. Those who are not components write ScopeInstances,
// so that their requests count too; the answers have the UIDs.
Yaml::List BodyRules(const std::vector<ComponentMandate>& components, const std::string& base_name,
                     const ChartSwitches& switches) {
  Yaml::List users;
  for (const ComponentMandate& component : components) {
    // A list without users would be of all. A chart, which decides later, does not ask for bodies.
    if (!MakesBindings(component) || !switches.Enabled(component).plain) continue;
    users.push_back(User(switches, ServiceAccountName(base_name, component.name)));
  }
  if (users.empty()) return {};
  const Yaml bindings = Yaml::Map{{"group", kRbacGroup},
                                  {"resources", Yaml::List{"rolebindings", "clusterrolebindings"}}};
  const Yaml instances =
      Yaml::Map{{"group", "operators.coreos.com"}, {"resources", Yaml::List{"scopeinstances"}}};
  return {Yaml::Map{{"level", "Request"},
                    {"users", std::move(users)},
                    {"verbs", Yaml::List{"create", "patch", "update"}},
                    {"resources", Yaml::List{bindings}}},
          Yaml::Map{{"level", "RequestResponse"},
                    {"omitManagedFields", Yaml::Verbatim("true")},
                    {"verbs", Yaml::List{"create", "list", "patch", "update"}},
                    {"resources", Yaml::List{instances}}}};
}

}  // namespace

Yaml AuditPolicy(const std::vector<ComponentMandate>& components, const std::string& base_name,
                 const ChartSwitches& switches, bool bodies) {
  Yaml::List users = {User(switches, base_name)};
  Yaml::List accounts;
  for (const ComponentMandate& component : components) {
    const std::string account = ServiceAccountName(base_name, component.name);
    users.push_back(Yaml::If(switches.Enabled(component), User(switches, account)));
    accounts.push_back(Yaml::If(switches.Enabled(component), account));
  }
  const Yaml::List here = {switches.Namespace()};
  const Yaml tokens = Yaml::Map{{"group", ""},
                                {"resources", Yaml::List{"serviceaccounts/token"}},
                                {"resourceNames", std::move(accounts)}};
  // The first rule that matches counts. Not RequestResponse: the response has the token.
  Yaml::List rules = {
      Yaml::Map{{"level", "Request"}, {"namespaces", here}, {"resources", Yaml::List{tokens}}}};
  if (bodies) {
    for (Yaml& rule : BodyRules(components, base_name, switches)) rules.push_back(std::move(rule));
  }
  rules.push_back(Yaml::Map{{"level", "Metadata"}, {"users", std::move(users)}});
  return Yaml::Map{{"apiVersion", "audit.k8s.io/v1"},
                   {"kind", "Policy"},
                   {"omitStages", Yaml::List{"RequestReceived"}},
                   {"rules", std::move(rules)}};
}

void AddAuditPolicy(ObjectMaker& base, const std::vector<ComponentMandate>& components) {
  const ChartSwitches& switches = base.switches();
  Yaml::Map object =
      base.Object("v1", "ConfigMap", base.names().base + "-audit-policy", switches.Namespace());
  object["data"] = Yaml::Map{
      {"policy.yaml", Yaml::Document(AuditPolicy(components, base.names().base, switches))}};
  base.Add(std::move(object), switches.AuditPolicy());
}

}  // namespace mandate::rbacgen
