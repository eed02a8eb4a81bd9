#include "rbacgen/lint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "manager/core/strings.h"
#include "rbacgen/text.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

bool Has(const Strings& strings, std::string_view wanted) {
  return std::find(strings.begin(), strings.end(), wanted) != strings.end();
}

bool IsCoreGroup(const rbac::Rule& rule) {
  return Has(rule.api_groups, "") || Has(rule.api_groups, "core") || Has(rule.api_groups, "*");
}

void LintShape(const Declaration& d, Strings* found) {
  const rbac::Rule& r = d.rule;
  if (r.verbs.empty()) found->push_back("no verbs: the rule grants nothing; list them in verbs=");
  if (!r.non_resource_urls.empty()) {
    if (!d.ns.empty()) {
      found->push_back(StrCat("urls in a Role (namespace=", d.ns,
                              "): URLs have no namespace and "
                              "the API server refuses this; take the namespace out"));
    }
    if (!r.resources.empty() || !r.api_groups.empty() || !r.resource_names.empty()) {
      found->push_back(
          "urls together with groups, resources or resourceNames: the API server "
          "refuses this; write two markers");
    }
    return;
  }
  if (r.resources.empty()) {
    found->push_back(
        "neither resources nor urls: the API server refuses this; name what the "
        "rule is about");
  } else if (r.api_groups.empty()) {
    found->push_back(
        "resources without groups: the API server refuses this; write groups=\"\" "
        "for the core group");
  }
}

void LintResources(const rbac::Rule& rule, Strings* found) {
  for (const std::string& resource : rule.resources) {
    if (resource.empty()) {
      found->push_back("an empty resource matches nothing; name it");
    } else if (resource.ends_with("/*")) {
      const std::string stem = resource.substr(0, resource.size() - 2);
      found->push_back(StrCat("resource ", Quoted(resource),
                              " matches nothing: RBAC knows \"*\", \"", stem, "\", \"", stem,
                              "/log\" and \"*/scale\"; list the "
                              "subresources"));
    }
    if (std::any_of(resource.begin(), resource.end(),
                    [](unsigned char c) { return std::isupper(c) != 0; })) {
      found->push_back(StrCat("resource ", Quoted(resource),
                              " has capitals: RBAC wants the plural "
                              "in lower case, as in the URL"));
    }
  }
}

void LintVerbs(const rbac::Rule& rule, Strings* found) {
  for (const std::string& verb : rule.verbs) {
    if (verb.empty()) found->push_back("an empty verb matches nothing; name it");
    // Constrained impersonation has verbs with capitals after a colon.
    const std::string_view word = std::string_view(verb).substr(0, verb.find(':'));
    if (std::any_of(word.begin(), word.end(),
                    [](unsigned char c) { return std::isupper(c) != 0; })) {
      found->push_back(StrCat("verb ", Quoted(verb),
                              " has capitals: verbs match case by case and "
                              "the API server's are in lower case"));
    }
  }
  if (rule.resource_names.empty()) return;
  if (Has(rule.verbs, "deletecollection")) {
    found->push_back(
        "deletecollection with resourceNames grants nothing: such a request names no "
        "object; take the verb or the names out");
  }
  // A subresource is created under its object's name, and apply or PUT create one by name.
  const bool creates_unnamed =
      std::any_of(rule.resources.begin(), rule.resources.end(),
                  [](const std::string& r) { return r != "*" && r.find('/') == r.npos; });
  if (Has(rule.verbs, "create") && !Has(rule.verbs, "patch") && !Has(rule.verbs, "update") &&
      creates_unnamed) {
    found->push_back(
        "create with resourceNames grants nothing: a POST has no name yet; add patch "
        "and create by apply, or write create in a marker without resourceNames");
  }
}

}  // namespace

std::vector<std::string> Lint(const Declaration& declaration) {
  Strings found;
  LintShape(declaration, &found);
  LintResources(declaration.rule, &found);
  LintVerbs(declaration.rule, &found);
  return found;
}

std::optional<std::string> Risk(const Declaration& declaration) {
  const rbac::Rule& r = declaration.rule;
  for (const std::string& verb : r.verbs) {
    if (verb == "*" || verb == "escalate" || verb == "bind" || verb == "impersonate" ||
        verb.starts_with("impersonate:") || verb.starts_with("impersonate-on:")) {
      return StrCat("verb ", Quoted(verb));
    }
  }
  if (Has(r.api_groups, "*")) return "group \"*\"";
  for (const std::string& resource : r.resources) {
    if (resource.starts_with('*')) return StrCat("resource ", Quoted(resource));
  }
  if (Has(r.non_resource_urls, "*") || Has(r.non_resource_urls, "/*")) return "every URL";
  if (!IsCoreGroup(r)) return std::nullopt;
  if (Has(r.resources, "serviceaccounts/token") && Has(r.verbs, "create")) {
    return "creating tokens";
  }
  if (Has(r.resources, "secrets")) {
    for (const char* verb : {"get", "list", "watch"}) {
      if (Has(r.verbs, verb)) return StrCat(verb, " on secrets");
    }
  }
  return std::nullopt;
}

void LintAll(const Sources& sources, Severity severity, Diagnostics* diagnostics) {
  for (const Declaration& d : sources.declarations) {
    for (std::string& text : Lint(d)) diagnostics->Add(severity, d.place, std::move(text));
  }
}

void CheckMandates(const Sources& sources, Diagnostics* diagnostics) {
  for (const Declaration& d : sources.declarations) {
    if (d.component.empty()) {
      diagnostics->Error(d.place,
                         "this rule belongs to no component; write "
                         "// +mandate:component:name=NAME above it in this file");
    }
    if (!d.role_name.empty()) {
      diagnostics->Error(d.place,
                         "roleName has no meaning in a mandate: its roles are named after "
                         "the component; take it out");
    }
    if (const auto risk = Risk(d); risk && d.justification.empty()) {
      diagnostics->Error(d.place,
                         StrCat(*risk,
                                " needs a reason; write it as // +mandate:rbac:justify=\"why this "
                                "component must have it\",",
                                d.arguments));
    }
  }
}

}  // namespace mandate::rbacgen
