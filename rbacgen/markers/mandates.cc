#include "rbacgen/markers/mandates.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "manager/rbac/events_rule.h"
#include "manager/rbac/normalize.h"

namespace mandate::rbacgen {
namespace {

struct Draft {
  std::vector<rbac::Rule> rules;
  std::set<std::string> justifications;
};

// The key is (external, namespace).
using Drafts = std::map<std::pair<bool, std::string>, Draft>;

bool WritesEvents(rbac::Rule rule) {
  std::ranges::replace(rule.api_groups, "core", "");
  return rbac::ResourceMatches(rule, "events", "") &&
         (rbac::GroupMatches(rule, "") || rbac::GroupMatches(rule, "events.k8s.io")) &&
         (rbac::VerbMatches(rule, "create") || rbac::VerbMatches(rule, "update") ||
          rbac::VerbMatches(rule, "patch"));
}

std::string Justification(const Declaration& d) {
  const auto& things =
      d.rule.non_resource_urls.empty() ? d.rule.resources : d.rule.non_resource_urls;
  return absl::StrCat(absl::StrJoin(d.rule.verbs, ", "), " of ", absl::StrJoin(things, ", "), ": ",
                      d.justification);
}

std::vector<Grant> Finish(Drafts drafts) {
  std::vector<Grant> grants;
  for (auto& [key, draft] : drafts) {
    grants.push_back(
        {.ns = key.second,
         .external = key.first,
         .rules = rbac::NormalizeRules(std::move(draft.rules)),
         .justifications = {draft.justifications.begin(), draft.justifications.end()}});
  }
  return grants;
}

}  // namespace

rbac::Rule EventsRule() {
  const rbac::RuleView& rule = rbac::kEventsRule;
  return {.verbs = {rule.verbs.begin(), rule.verbs.end()},
          .api_groups = {rule.api_groups.begin(), rule.api_groups.end()},
          .resources = {rule.resources.begin(), rule.resources.end()}};
}

std::vector<std::string> EventNamespaces(const Sources& sources, const std::string& component) {
  if (sources.without_events.contains(component)) return {};
  std::set<std::string> namespaces;
  for (const Declaration& d : sources.declarations) {
    if (d.component == component) namespaces.insert(d.ns);
  }
  if (namespaces.empty() || namespaces.contains("")) return {""};
  return {namespaces.begin(), namespaces.end()};
}

std::vector<ComponentMandate> BuildMandates(const Sources& sources) {
  std::map<std::string, Drafts> components;
  for (const auto& [name, places] : sources.components) {
    Drafts& drafts = components[name];
    for (const std::string& ns : EventNamespaces(sources, name)) {
      drafts[{false, ns}].rules.push_back(EventsRule());
    }
  }
  for (const Declaration& d : sources.declarations) {
    const auto component = components.find(d.component);
    if (component == components.end()) continue;  // reported when it was read
    Draft& draft = component->second[{d.external, d.ns}];
    draft.rules.push_back(d.rule);
    if (!d.justification.empty()) draft.justifications.insert(Justification(d));
  }
  std::vector<ComponentMandate> mandates;
  for (auto& [name, drafts] : components) {
    mandates.push_back({name, Finish(std::move(drafts))});
    mandates.back().own_events =
        !EventNamespaces(sources, name).empty() &&
        std::ranges::none_of(sources.declarations, [&](const Declaration& d) {
          return d.component == name && WritesEvents(d.rule);
        });
    const auto value = sources.values.find(name);
    if (value != sources.values.end()) {
      mandates.back().value = value->second.path;
      mandates.back().unless = value->second.unless;
    }
    for (const FenceDeclaration& f : sources.fences) {
      if (f.component == name) mandates.back().fences.push_back(f.fence);
    }
  }
  return mandates;
}

ComponentMandate BuildBaseMandate(const std::vector<ComponentMandate>& components,
                                  const std::string& base_name, const std::string& ns) {
  std::vector<std::string> accounts;
  for (const ComponentMandate& c : components) {
    accounts.push_back(ServiceAccountName(base_name, c.name));
  }
  std::vector<rbac::Rule> rules = {{.verbs = {"create", "get", "patch", "update"},
                                    .api_groups = {"coordination.k8s.io"},
                                    .resources = {"leases"},
                                    .resource_names = {base_name}}};
  // Without names, the rule would mint the token of any ServiceAccount of the namespace.
  if (!accounts.empty()) {
    rules.push_back({.verbs = {"create"},
                     .api_groups = {""},
                     .resources = {"serviceaccounts/token"},
                     .resource_names = std::move(accounts)});
  }
  return {"base",
          {{.ns = ns,
            .external = false,
            .rules = rbac::NormalizeRules(std::move(rules)),
            .justifications = {}}},
          {}};
}

std::string ServiceAccountName(const std::string& base_name, const std::string& component) {
  return absl::StrCat(base_name, "-", component);
}

}  // namespace mandate::rbacgen
