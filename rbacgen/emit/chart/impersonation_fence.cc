#include "rbacgen/emit/chart/impersonation_fence.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "manager/rbac/rule.h"
#include "rbacgen/emit/chart/admission_policy.h"
#include "rbacgen/emit/chart/pattern_cel.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

// The operations that admission uses for the verbs of writes. An apply that creates its object is a
// CREATE, for which RBAC also requires the verb create.
Strings OperationsOf(const rbac::Rule& rule) {
  Strings operations;
  const auto add = [&](const char* operation, std::initializer_list<std::string_view> verbs) {
    const bool any = std::ranges::any_of(
        verbs, [&](std::string_view verb) { return rbac::VerbMatches(rule, verb); });
    if (any) operations.emplace_back(operation);
  };
  add("CREATE", {"create"});
  add("DELETE", {"delete", "deletecollection"});
  add("UPDATE", {"update", "patch"});
  return operations;
}

std::vector<rbac::Rule> WritingRules(const ComponentMandate& component) {
  std::vector<rbac::Rule> rules;
  for (const Grant& grant : component.grants) {
    for (const rbac::Rule& rule : grant.rules) {
      if (!rule.resources.empty() && !OperationsOf(rule).empty()) rules.push_back(rule);
    }
  }
  return rules;
}

// Operation, group, and resource with its subresource.
using Write = std::tuple<std::string, std::string, std::string>;

bool Declares(const std::vector<rbac::Rule>& rules, const Write& write) {
  const auto& [operation, group, resource] = write;
  const size_t slash = resource.find('/');
  const std::string sub = slash == resource.npos ? "" : resource.substr(slash + 1);
  return std::ranges::any_of(rules, [&](const rbac::Rule& rule) {
    const Strings operations = OperationsOf(rule);
    return std::ranges::find(operations, operation) != operations.end() &&
           rbac::GroupMatches(rule, group) &&
           rbac::ResourceMatches(rule, resource.substr(0, slash), sub);
  });
}

std::string List(const Strings& strings) {
  Strings literals;
  for (const std::string& text : strings) literals.push_back(CelLiteral(text));
  return StrCat("[", AsStd(absl::StrJoin(literals, ", ")), "]");
}

// In RBAC, "*" means every resource and every subresource.
Strings Patterns(Strings resources) {
  if (std::ranges::find(resources, "*") != resources.end()) return {"*"};
  return resources;
}

// Whether a rule declares the request. RBAC already checks names and namespaces.
std::string IsDeclaredCel(const std::vector<rbac::Rule>& rules) {
  Strings terms;
  for (const rbac::Rule& rule : rules) {
    Strings parts = {StrCat("request.operation in ", List(OperationsOf(rule)))};
    if (std::ranges::find(rule.api_groups, "*") == rule.api_groups.end()) {
      parts.push_back(StrCat("request.resource.group in ", List(rule.api_groups)));
    }
    parts.push_back(PatternsCel(Patterns(rule.resources), "variables.resource"));
    terms.push_back(absl::StrJoin(parts, " && "));
  }
  return terms.empty() ? "false" : absl::StrJoin(terms, " || ");
}

}  // namespace

void AddImpersonationFence(ObjectMaker& maker, const ComponentMandate& component,
                           const std::vector<ComponentMandate>& all) {
  const std::vector<rbac::Rule> own = WritingRules(component);
  std::set<std::string> operations, groups, resources;
  for (const ComponentMandate& other : all) {
    for (const rbac::Rule& rule : WritingRules(other)) {
      for (const std::string& operation : OperationsOf(rule)) {
        for (const std::string& group : rule.api_groups) {
          for (const std::string& resource : rule.resources) {
            if (Declares(own, {operation, group, resource})) continue;
            operations.insert(operation);
            groups.insert(group);
            resources.insert(resource == "*" ? "*/*" : resource);
          }
        }
      }
    }
  }
  if (resources.empty()) return;
  // The server accepts no other entries together with "*/*" or "*".
  if (resources.contains("*/*")) resources = {"*/*"};
  if (groups.contains("*")) groups = {"*"};
  const ChartSwitches& switches = maker.switches();
  AddAdmissionPolicy(
      maker,
      {.id = "impersonated",
       .matches = "is-the-component",
       .condition = {},
       .groups = Strings(groups.begin(), groups.end()),
       .operations = Strings(operations.begin(), operations.end()),
       .resources = Strings(resources.begin(), resources.end()),
       .variables = Yaml::List{Yaml::Map{
           {"name", "resource"},
           {"expression",
            "request.resource.resource + "
            "(request.?subResource.orValue(\"\") == \"\" ? \"\" : \"/\" + request.subResource)"}}},
       .validations = Yaml::List{Validation(
           IsDeclaredCel(own),
           StrCat("no marker of component ", component.name,
                  " declares this write; base may send it only as a component that declares it"))}},
      switches.Fences() && switches.ImpersonateMode() && switches.ConstrainedImpersonation());
}

}  // namespace mandate::rbacgen
