#include "rbacgen/emit/chart/impersonation.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/rbac/normalize.h"
#include "rbacgen/emit/roles.h"

namespace mandate::rbacgen {
namespace {

// The verbs of resource requests and of URL requests.
constexpr std::array<std::string_view, 8> kRequestVerbs = {
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
constexpr std::array<std::string_view, 7> kUrlVerbs = {"delete", "get",  "head", "options",
                                                       "patch",  "post", "put"};
constexpr char kPrefix[] = "impersonate-on:serviceaccount:";
constexpr char kReason[] = "The identity mode is impersonate: base acts for this component.";

// The rights that system:basic-user and system:discovery give every identity, and that the manager
// uses for each component: reviews of its own identity and rights, and discovery.
std::vector<rbac::Rule> EverybodysRules() {
  return {{.verbs = {"create"},
           .api_groups = {"authorization.k8s.io"},
           .resources = {"selfsubjectaccessreviews", "selfsubjectrulesreviews"},
           .resource_names = {},
           .non_resource_urls = {}},
          {.verbs = {"create"},
           .api_groups = {"authentication.k8s.io"},
           .resources = {"selfsubjectreviews"},
           .resource_names = {},
           .non_resource_urls = {}},
          {.verbs = {"get"},
           .api_groups = {},
           .resources = {},
           .resource_names = {},
           .non_resource_urls = {"/api", "/api/*", "/apis", "/apis/*", "/version"}}};
}

Yaml Impersonate(const char* group, const char* verb, const std::string& account) {
  return RulesYaml({{.verbs = {verb},
                     .api_groups = {group},
                     .resources = {"serviceaccounts"},
                     .resource_names = {account},
                     .non_resource_urls = {}}});
}

}  // namespace

std::vector<rbac::Rule> ImpersonateOn(const std::vector<rbac::Rule>& rules) {
  std::vector<rbac::Rule> result;
  for (rbac::Rule rule : rules) {
    const bool all = std::find(rule.verbs.begin(), rule.verbs.end(), "*") != rule.verbs.end();
    const bool url = !rule.non_resource_urls.empty();
    std::vector<std::string> verbs;
    for (const std::string_view verb : url ? std::span<const std::string_view>(kUrlVerbs)
                                           : std::span<const std::string_view>(kRequestVerbs)) {
      if (all || std::find(rule.verbs.begin(), rule.verbs.end(), verb) != rule.verbs.end()) {
        verbs.push_back(absl::StrCat(kPrefix, std::string(verb)));
      }
    }
    if (verbs.empty()) continue;
    rule.verbs = std::move(verbs);
    result.push_back(std::move(rule));
  }
  return rbac::NormalizeRules(std::move(result));
}

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
  maker.Role(as, ns, Impersonate("", "impersonate", maker.account()), why, classic);
  maker.Binding(as, ns, base, classic);

  const std::string whom = maker.account() + "-impersonate-constrained";
  maker.Role(whom, ns,
             Impersonate("authentication.k8s.io", "impersonate:serviceaccount", maker.account()),
             why, constrained);
  maker.Binding(whom, ns, base, constrained);

  // The rules by namespace. The namespaces of an external grant are not known yet, so it counts as
  // a grant in all namespaces.
  std::map<std::string, std::vector<rbac::Rule>> targets = {{"", EverybodysRules()}};
  for (const Grant& grant : component.grants) {
    std::vector<rbac::Rule>& target = targets[grant.external ? "" : grant.ns];
    target.insert(target.end(), grant.rules.begin(), grant.rules.end());
  }
  const std::string on = maker.account() + "-impersonate-on";
  for (const auto& [name, rules] : targets) {
    const Yaml where = name.empty() ? Yaml() : Yaml(name);
    maker.Role(on, where, RulesYaml(ImpersonateOn(rules)), why, constrained);
    maker.Binding(on, where, base, constrained);
  }
}

}  // namespace mandate::rbacgen
