#include "rbacgen/emit/chart/chart_objects.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "manager/core/status_macros.h"
#include "rbacgen/emit/chart/audit_policy.h"
#include "rbacgen/emit/chart/event_fence.h"
#include "rbacgen/emit/chart/fence_policy.h"
#include "rbacgen/emit/chart/flow_schema.h"
#include "rbacgen/emit/chart/impersonation.h"
#include "rbacgen/emit/chart/impersonation_fence.h"
#include "rbacgen/emit/chart/token_fence.h"
#include "rbacgen/emit/chart/watched_namespaces.h"
#include "rbacgen/emit/roles.h"

namespace mandate::rbacgen {
namespace {

// No two objects may be one, whatever the switches: a condition that is off may be on tomorrow.
absl::Status CheckNames(const std::vector<ChartFile>& files) {
  std::set<std::string> seen;
  for (const ChartFile& file : files) {
    for (const Yaml& object : file.objects) {
      const Yaml& metadata = object["metadata"];
      const std::string name =
          absl::StrCat(object["kind"].text(), " ", metadata["namespace"].text(),
                       metadata["namespace"].IsNull() ? "" : "/", metadata["name"].text());
      if (!seen.insert(name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("the chart would have two objects with the name ", name,
                         "; rename one of the components, or give one of the fences an id"));
      }
    }
  }
  return absl::OkStatus();
}

void AddServiceAccount(ObjectMaker& maker, bool mounted_in_pods) {
  Yaml::Map object =
      maker.Object("v1", "ServiceAccount", maker.account(), maker.switches().Namespace());
  if (!mounted_in_pods) object["automountServiceAccountToken"] = Yaml::Verbatim("false");
  maker.Add(std::move(object));
}

// Tokens that are bound to it end when it is deleted. The manager needs no right to it.
void AddKillSwitch(ObjectMaker& maker) {
  Yaml::Map object = maker.Object("v1", "Secret", maker.account(), maker.switches().Namespace());
  object["type"] = "Opaque";
  maker.Add(std::move(object), maker.switches().KillSwitch());
}

// The ScopeInstances that users create define the namespaces of the grant. The role's name is not
// one of the manager's own, which scope-template may not make.
void AddScopeTemplate(ObjectMaker& maker, const std::string& name, const Grant& grant) {
  Yaml::Map object = maker.Object("operators.coreos.com/v1alpha1", "ScopeTemplate", name, Yaml());
  object["spec"] =
      Yaml::Map{{"clusterRoles", Yaml::List{Yaml::Map{
                                     {"generateName", maker.component() + "-external-"},
                                     {"rules", RulesYaml(grant.rules)},
                                     {"subjects", maker.Requesters()},
                                 }}}};
  maker.Add(std::move(object), maker.switches().ExternalAsScopeTemplate());
}

void AddGrant(ObjectMaker& maker, const Grant& grant, const std::set<std::string>& cluster_scoped) {
  const Yaml ns = maker.NamespaceOf(grant.ns);
  const Yaml rules = RulesYaml(grant.rules);
  if (!grant.external) {
    maker.Role(maker.account(), ns, rules, grant.justifications);
    if (ns.IsNull()) {
      AddClusterGrant(maker, grant.rules, cluster_scoped);
    } else {
      maker.Binding(maker.account(), ns, maker.Requesters());
    }
    return;
  }
  const std::string name = maker.account() + "-external";
  maker.Role(name, ns, rules, grant.justifications, !maker.switches().ExternalAsScopeTemplate());
  AddScopeTemplate(maker, grant.ns.empty() ? name : absl::StrCat(name, "-", grant.ns), grant);
}

std::vector<Yaml> ComponentObjects(const ComponentMandate& component,
                                   const std::vector<ComponentMandate>& all,
                                   const ChartNames& names, const ChartSwitches& switches,
                                   const std::set<std::string>& cluster_scoped) {
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, component.name, ServiceAccountName(names.base, component.name),
                    &objects);
  AddServiceAccount(maker, /*mounted_in_pods=*/false);
  AddKillSwitch(maker);
  for (const Grant& grant : component.grants) AddGrant(maker, grant, cluster_scoped);
  AddImpersonation(maker, component);
  AddImpersonationFence(maker, component, all);
  for (const Fence& fence : component.fences) AddFencePolicy(maker, fence);
  if (component.own_events) AddEventFence(maker);
  return objects;
}

// The objects of base in its namespace. The list of the components' names is never empty, which
// would mean any name: a chart without a component is rejected.
class BaseObjects {
 public:
  BaseObjects(const std::vector<ComponentMandate>& components, const ChartNames& names,
              const ChartSwitches& switches)
      : components_(components),
        names_(names),
        switches_(switches),
        maker_(names, switches, "base", names.base, &objects_) {}

  std::vector<Yaml> Make() && {
    AddServiceAccount(maker_, /*mounted_in_pods=*/true);
    AddRole(names_.base, BaseRules(), {});
    // A request to create carries no name yet, so that rule cannot have any.
    AddRole(names_.base + "-create-service-accounts",
            {RuleYaml({.verbs = {"create"}, .api_groups = {""}, .resources = {"serviceaccounts"}})},
            switches_.CreateServiceAccounts());
    AddTokenFence(maker_);
    AddGuards();
    AddFlowSchema(maker_, components_);
    AddAuditPolicy(maker_, components_);
    return std::move(objects_);
  }

 private:
  // The rules of BuildBaseMandate(). Base requests tokens in one identity mode only, and only for
  // the components that are granted.
  Yaml::List BaseRules() const {
    const ComponentMandate mandate = BuildBaseMandate(components_, names_.base, "");
    Yaml::List rules;
    for (const rbac::Rule& rule : mandate.grants.at(0).rules) {
      Yaml yaml = RuleYaml(rule);
      if (rule.resources == std::vector<std::string>{"serviceaccounts/token"}) {
        yaml["resourceNames"] = Accounts();
        yaml = Yaml::If(switches_.TokenMode(), std::move(yaml));
      }
      rules.push_back(std::move(yaml));
    }
    return rules;
  }

  Yaml::List Accounts() const {
    Yaml::List accounts;
    for (const ComponentMandate& c : components_) {
      accounts.push_back(Yaml::If(switches_.Granted(c), ServiceAccountName(names_.base, c.name)));
    }
    return accounts;
  }

  // For every component, including disabled ones.
  void AddGuards() {
    for (const ComponentMandate& c : components_) {
      ObjectMaker maker(names_, switches_, c.name, ServiceAccountName(names_.base, c.name),
                        &objects_);
      for (const Fence& fence : c.fences) AddGuardPolicy(maker, fence);
    }
  }

  void AddRole(const std::string& name, Yaml::List rules, const Yaml::Condition& condition) {
    maker_.Role(name, switches_.Namespace(), std::move(rules), {}, condition);
    maker_.Binding(name, switches_.Namespace(), {maker_.Subject(names_.base)}, condition);
  }

  const std::vector<ComponentMandate>& components_;
  const ChartNames& names_;
  const ChartSwitches& switches_;
  std::vector<Yaml> objects_;
  ObjectMaker maker_;
};

}  // namespace

absl::StatusOr<std::vector<ChartFile>> BuildChart(const std::vector<ComponentMandate>& components,
                                                  const ChartOptions& options) {
  const ChartSwitches switches(options.settings);
  RETURN_IF_ERROR(switches.Check(components));
  ChartNames names = options.names;
  for (const ComponentMandate& component : components) {
    names.accounts.push_back(ServiceAccountName(names.base, component.name));
  }
  std::vector<ChartFile> files;
  files.push_back({"base", {}, BaseObjects(components, names, switches).Make()});
  for (const ComponentMandate& component : components) {
    files.push_back(
        {component.name, switches.Granted(component),
         ComponentObjects(component, components, names, switches, options.cluster_scoped)});
  }
  RETURN_IF_ERROR(CheckNames(files));
  return files;
}

}  // namespace mandate::rbacgen
