#include "rbacgen/audit_policy.h"

#include <utility>

namespace mandate::rbacgen {
namespace {

Yaml User(const ChartSwitches& switches, const std::string& account) {
  return switches.WithNamespace("system:serviceaccount:", ":" + account);
}

}  // namespace

Yaml AuditPolicy(const std::vector<ComponentMandate>& components, const std::string& base_name,
                 const ChartSwitches& switches) {
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
  return Yaml::Map{
      {"apiVersion", "audit.k8s.io/v1"},
      {"kind", "Policy"},
      {"omitStages", Yaml::List{"RequestReceived"}},
      // The first rule that matches counts. Not RequestResponse: the response has the token.
      {"rules",
       Yaml::List{
           Yaml::Map{{"level", "Request"}, {"namespaces", here}, {"resources", Yaml::List{tokens}}},
           Yaml::Map{{"level", "Metadata"}, {"users", std::move(users)}}}}};
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
