#include "rbacgen/emit/chart/impersonation.h"

#include <string>

#include "manager/rbac/impersonation.h"
#include "manager/rbac/normalize.h"
#include "rbacgen/emit/roles.h"

namespace mandate::rbacgen {
namespace {

constexpr char kReason[] = "The identity mode is impersonate: base acts for this component.";

}  // namespace

void AddImpersonation(ObjectMaker& maker, const ComponentMandate& component) {
  const ChartSwitches& switches = maker.switches();
  const Yaml::Condition constrained =
      switches.ImpersonateMode() && switches.ConstrainedImpersonation();
  const Yaml::Condition classic =
      switches.ImpersonateMode() && !switches.ConstrainedImpersonation();
  const Yaml ns = switches.Namespace();
  const Yaml::List base = {maker.Subject(maker.names().base)};
  const std::vector<std::string> why = {kReason};
  const std::string as = maker.account() + "-impersonate";
  maker.Role(as, ns, RulesYaml({rbac::ClassicImpersonation(maker.account())}), why, classic);
  maker.Binding(as, ns, base, classic);

  const std::string whom = maker.account() + "-impersonate-constrained";
  maker.Role(whom, ns, RulesYaml({rbac::ImpersonateUserRule(maker.account())}), why, constrained);
  maker.Binding(whom, ns, base, constrained);

  // The namespaces of an external grant are not known yet, so it counts in every namespace.
  rbac::RulesByNamespace declared;
  for (const Grant& grant : component.grants) {
    std::vector<rbac::Rule>& rules = declared[grant.external ? "" : grant.ns];
    rules.insert(rules.end(), grant.rules.begin(), grant.rules.end());
  }
  const std::string on = maker.account() + "-impersonate-on";
  for (const auto& [name, rules] : rbac::ImpersonateOnRules(declared)) {
    const Yaml where = maker.NamespaceOf(name);
    maker.Role(on, where, RulesYaml(rbac::NormalizeRules(rules)), why, constrained);
    maker.Binding(on, where, base, constrained);
  }
}

}  // namespace mandate::rbacgen
