#include "rbacgen/lint/builtin_lint.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/closest_name.h"
#include "manager/core/strings.h"
#include "rbacgen/lint/builtin_resources.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kVerbs[] = {"get",    "list",  "watch",  "create",
                                       "update", "patch", "delete", "deletecollection"};

bool IsRequestVerb(std::string_view verb) {
  return std::find(std::begin(kVerbs), std::end(kVerbs), verb) != std::end(kVerbs);
}

bool HasCapitals(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isupper(c) != 0; });
}

std::string GroupName(std::string_view group) {
  return group.empty() ? "the core group" : StrCat("group ", group);
}

Strings GroupsOf(const rbac::Rule& rule) {
  Strings groups = rule.api_groups;
  std::replace(groups.begin(), groups.end(), std::string("core"), std::string());
  return groups;
}

// Whether all groups are Kubernetes' own, so that no other resource can be meant.
bool AllBuiltin(const Strings& groups) {
  return !groups.empty() && std::all_of(groups.begin(), groups.end(),
                                        [](const std::string& g) { return IsBuiltinGroup(g); });
}

// The subresource of userextras can have any name, such as "userextras/scopes".
std::string_view Known(std::string_view resource) {
  return resource.starts_with("userextras/") ? "userextras" : resource;
}

std::vector<const BuiltinResource*> Find(const Strings& groups, std::string_view resource) {
  std::vector<const BuiltinResource*> found;
  for (const std::string& group : groups) {
    const BuiltinResource* r = FindBuiltin(group, Known(resource));
    if (r != nullptr) found.push_back(r);
  }
  return found;
}

// False for names that other checks report, to report each mistake once.
bool IsPlain(std::string_view resource) {
  return !resource.empty() && resource.find('*') == resource.npos && !HasCapitals(resource);
}

std::string NamesOf(const Strings& groups) {
  Strings names;
  for (const std::string& group : groups) names.push_back(GroupName(group));
  return absl::StrJoin(names, " and ");
}

// Whether the verb is a right that no request uses as its verb, and the resource is one of those to
// which that right applies.
bool IsSpecialVerbOf(std::string_view verb, std::string_view resource) {
  if (verb == "bind" || verb == "escalate")
    return resource == "roles" || resource == "clusterroles";
  if (verb == "impersonate") return resource == "serviceaccounts";
  return verb.starts_with("impersonate-on:");
}

void LintScope(const Declaration& d, const std::vector<const BuiltinResource*>& found,
               std::string_view resource, Strings* out) {
  if (d.ns.empty() || found.empty()) return;
  if (std::any_of(found.begin(), found.end(), [](const auto* r) { return r->namespaced; })) return;
  // A request for one Namespace object belongs to that namespace, and "bind" is authorized in the
  // namespace of the binding.
  const bool of_namespaces = resource == "namespaces" || resource.starts_with("namespaces/");
  const bool grants = std::any_of(d.rule.verbs.begin(), d.rule.verbs.end(), [&](const auto& verb) {
    return verb == "bind" || (of_namespaces && (verb == "get" || verb == "update" ||
                                                verb == "patch" || verb == "delete"));
  });
  if (grants) return;
  out->push_back(StrCat(resource, " are cluster-scoped: a Role in ", d.ns,
                        " grants nothing on them; remove the namespace"));
}

void LintVerb(const Declaration& d, const Strings& groups, std::string_view verb, Strings* out) {
  if (verb.empty() || verb == "*" || HasCapitals(verb)) return;
  bool any = false;
  for (const std::string& resource : d.rule.resources) {
    if (!IsPlain(resource)) return;  // a wildcard: one of the resources may support the verb
    const auto found = Find(groups, resource);
    if (found.empty()) return;
    any =
        any || IsSpecialVerbOf(verb, resource) ||
        std::any_of(found.begin(), found.end(), [&](const auto* r) { return KnowsVerb(*r, verb); });
  }
  if (any || d.rule.resources.empty()) return;
  if (verb == "bind" || verb == "escalate") {
    out->push_back(StrCat("verb ", Quoted(verb), " applies only to roles and clusterroles of ",
                          "rbac.authorization.k8s.io"));
  } else if (IsRequestVerb(verb)) {
    const std::string& resource = d.rule.resources.front();
    out->push_back(StrCat(
        resource, " does not support verb ", Quoted(verb), "; it supports only ",
        AsStd(absl::StrReplaceAll(AsAbsl(Find(groups, resource).front()->verbs), {{" ", ", "}}))));
  }
}

void LintUnknownVerbs(const rbac::Rule& rule, Strings* out) {
  for (const std::string& verb : rule.verbs) {
    if (verb.empty() || verb == "*" || IsRequestVerb(verb) || HasCapitals(verb)) continue;
    for (const std::string_view known : kVerbs) {
      if (EditDistance(verb, known) != 1) continue;
      out->push_back(StrCat("unknown verb ", Quoted(verb), "; did you mean ", Quoted(known), "?"));
      break;
    }
  }
}

}  // namespace

void LintBuiltins(const Declaration& d, Strings* out) {
  LintUnknownVerbs(d.rule, out);
  const Strings groups = GroupsOf(d.rule);
  if (!AllBuiltin(groups)) return;
  for (const std::string& resource : d.rule.resources) {
    if (!IsPlain(resource)) continue;
    const auto found = Find(groups, resource);
    LintScope(d, found, resource, out);
    if (!found.empty()) continue;
    const BuiltinResource* near = NearestBuiltin(groups, resource);
    if (near == nullptr) continue;
    out->push_back(StrCat("unknown resource ", Quoted(resource), " in ", NamesOf(groups), "; ",
                          near->resource == resource
                              ? StrCat("it is in ", GroupName(near->group))
                              : StrCat("did you mean ", Quoted(near->resource), " in ",
                                       GroupName(near->group), "?")));
  }
  for (const std::string& verb : d.rule.verbs) LintVerb(d, groups, verb, out);
}

std::vector<std::string> DoubtfulBuiltins(const Declaration& d) {
  Strings out;
  const Strings groups = GroupsOf(d.rule);
  if (!AllBuiltin(groups)) return out;
  for (const std::string& resource : d.rule.resources) {
    if (!IsPlain(resource) || !Find(groups, resource).empty() ||
        NearestBuiltin(groups, resource) != nullptr) {
      continue;
    }
    out.push_back(StrCat("unknown resource ", Quoted(resource), " in ", NamesOf(groups),
                         " of Kubernetes 1.36; the rule has no effect, unless a newer ",
                         "version has it"));
  }
  return out;
}

}  // namespace mandate::rbacgen
