#include "rbacgen/lint/lint.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "manager/rbac/mandate.h"
#include "rbacgen/lint/builtin_lint.h"
#include "rbacgen/lint/risk.h"
#include "rbacgen/markers/parallel.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

bool Has(const Strings& strings, std::string_view wanted) {
  return std::find(strings.begin(), strings.end(), wanted) != strings.end();
}

void LintShape(const Declaration& d, Strings* found) {
  const rbac::Rule& r = d.rule;
  if (r.verbs.empty()) found->push_back("no verbs: the rule grants nothing; list them in verbs=");
  if (!r.non_resource_urls.empty()) {
    if (!d.ns.empty()) {
      found->push_back(StrCat("urls in a Role (namespace=", d.ns,
                              "): URLs have no namespace and "
                              "the API server rejects the Role; remove the namespace"));
    }
    if (!r.resources.empty() || !r.api_groups.empty() || !r.resource_names.empty()) {
      found->push_back(
          "urls together with groups, resources or resourceNames: the API server rejects the rule; "
          "write two markers");
    }
    return;
  }
  if (r.resources.empty()) {
    found->push_back(
        "neither resources nor urls: the API server rejects the rule; add resources or urls");
  } else if (r.api_groups.empty()) {
    found->push_back(
        "resources without groups: the API server rejects the rule; write groups=\"\" "
        "for the core group");
  }
}

// Bare text up to a delimiter can hold anything, such as "get list".
void LintCharacters(std::string_view what, const std::vector<std::string>& items, Strings* found) {
  for (const std::string& item : items) {
    const auto fits = [](unsigned char c) {
      return absl::ascii_isalnum(c) ||
             std::string_view("-._:/*%").find(c) != std::string_view::npos;
    };
    if (std::all_of(item.begin(), item.end(), fits)) continue;
    found->push_back(StrCat(what, " ", Quoted(item),
                            " contains invalid characters and matches nothing; ",
                            "separate items with \";\""));
  }
}

void LintResources(const rbac::Rule& rule, Strings* found) {
  for (const std::string& resource : rule.resources) {
    if (resource.empty()) {
      found->push_back("an empty resource matches nothing; name it");
    } else if (resource.ends_with("/*")) {
      const std::string stem = resource.substr(0, resource.size() - 2);
      found->push_back(StrCat("resource ", Quoted(resource),
                              " matches nothing: RBAC supports \"*\", \"", stem, "\", \"", stem,
                              "/log\" and \"*/scale\"; list the "
                              "subresources"));
    }
    if (std::any_of(resource.begin(), resource.end(),
                    [](unsigned char c) { return std::isupper(c) != 0; })) {
      found->push_back(
          StrCat("resource ", Quoted(resource),
                 " has capital letters: write the plural in lower case, as in the URL"));
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
                              " has capital letters: verbs are case-sensitive and the API server's "
                              "verbs are in lower case"));
    }
  }
  if (rule.resource_names.empty()) return;
  if (Has(rule.verbs, "deletecollection")) {
    found->push_back(
        "deletecollection with resourceNames grants nothing: such a request has no object name; "
        "remove the verb or the names");
  }
  // Only a POST has no name: creating a subresource, by apply or by PUT has one.
  const bool creates_unnamed =
      std::any_of(rule.resources.begin(), rule.resources.end(),
                  [](const std::string& r) { return r != "*" && r.find('/') == r.npos; });
  if (Has(rule.verbs, "create") && !Has(rule.verbs, "patch") && !Has(rule.verbs, "update") &&
      creates_unnamed) {
    found->push_back(
        "create with resourceNames grants nothing: a POST request has no name yet; add patch and "
        "create the object by server-side apply, or write create in a marker without "
        "resourceNames");
  }
}

void LintNames(const Declaration& d, Strings* found) {
  if (!d.ns.empty() && d.ns != rbac::kManagerNamespace) {
    if (const absl::Status valid = CheckDnsLabel(d.ns); !valid.ok()) {
      found->push_back(StrCat("namespace: ", AsStd(valid.message())));
    }
  }
  for (const std::string& group : d.rule.api_groups) {
    const size_t slash = group.find('/');
    if (slash == std::string::npos) continue;
    found->push_back(StrCat("group ", Quoted(group),
                            " has a version, which RBAC does not support: ", "write ",
                            Quoted(group.substr(0, slash))));
  }
  // The resourceNames of these resources are not names of objects.
  const bool objects =
      std::none_of(d.rule.resources.begin(), d.rule.resources.end(), [](std::string_view r) {
        return r == "signers" || r == "users" || r == "groups" || r == "uids" ||
               r.starts_with("userextras");
      });
  for (const std::string& name : d.rule.resource_names) {
    if (!objects) break;
    if (const absl::Status valid = CheckPathSegment(name); !valid.ok()) {
      found->push_back(
          StrCat("resourceNames: no object can have this name: ", AsStd(valid.message())));
    }
  }
  for (const std::string& url : d.rule.non_resource_urls) {
    if (url != "*" && !url.starts_with('/')) {
      found->push_back(
          StrCat("url ", Quoted(url), " does not begin with /, so no request matches it"));
    } else if (url.find('*') < url.find_last_not_of('*') + 1 && url != "*" &&
               url.find_last_not_of('*') != url.npos) {
      found->push_back(
          StrCat("url ", Quoted(url),
                 ": \"*\" is a wildcard only at the end; elsewhere it is a literal star"));
    }
  }
}

}  // namespace

std::vector<std::string> Lint(const Declaration& declaration) {
  Strings found;
  LintShape(declaration, &found);
  LintCharacters("group", declaration.rule.api_groups, &found);
  LintCharacters("resource", declaration.rule.resources, &found);
  LintCharacters("verb", declaration.rule.verbs, &found);
  LintResources(declaration.rule, &found);
  LintVerbs(declaration.rule, &found);
  LintNames(declaration, &found);
  LintBuiltins(declaration, &found);
  return found;
}

std::vector<std::string> Doubts(const Declaration& declaration) {
  Strings found = DoubtfulBuiltins(declaration);
  const rbac::Rule& rule = declaration.rule;
  if (!rule.resource_names.empty() && !declaration.selects_by_name &&
      (Has(rule.verbs, "list") || Has(rule.verbs, "watch"))) {
    found.push_back(
        "list and watch with resourceNames are granted only to requests with the field selector "
        "metadata.name=NAME; if the requests have it, declare the rule in a +mandate:rbac marker "
        "with fieldSelector=metadata.name");
  }
  return found;
}

void LintAll(const Sources& sources, Severity severity, Diagnostics* diagnostics) {
  constexpr size_t kOfABatch = 256;
  const std::vector<Declaration>& all = sources.declarations;
  std::vector<Diagnostics> batches((all.size() + kOfABatch - 1) / kOfABatch);
  InParallel(batches.size(), UsefulThreads(), [&](size_t i) {
    const size_t end = std::min(all.size(), (i + 1) * kOfABatch);
    for (size_t k = i * kOfABatch; k < end; ++k) {
      const Declaration& d = all[k];
      for (std::string& text : Lint(d)) batches[i].Add(severity, d.place, std::move(text));
      for (std::string& text : Doubts(d)) batches[i].Warning(d.place, std::move(text));
    }
  });
  for (Diagnostics& batch : batches) diagnostics->Merge(std::move(batch));
}

namespace {

// Whether some rule allows writes of the resource. If none does, the fence is probably misspelt.
bool MayWrite(const Sources& sources, const FenceDeclaration& f, std::string_view resource) {
  return std::any_of(
      sources.declarations.begin(), sources.declarations.end(), [&](const Declaration& d) {
        const rbac::Rule& r = d.rule;
        const bool writes = std::any_of(r.verbs.begin(), r.verbs.end(), [](std::string_view v) {
          return v == "*" || v == "create" || v == "update" || v == "patch" || v == "delete" ||
                 v == "deletecollection";
        });
        const bool group =
            std::any_of(f.fence.groups.begin(), f.fence.groups.end(), [&](const std::string& g) {
              return g == "*" || Has(r.api_groups, g) || Has(r.api_groups, "*") ||
                     (g.empty() && Has(r.api_groups, "core"));
            });
        return d.component == f.component && writes && group &&
               (resource.find('*') != resource.npos || Has(r.resources, resource) ||
                Has(r.resources, "*"));
      });
}

void CheckFences(const Sources& sources, Diagnostics* diagnostics) {
  for (const FenceDeclaration& f : sources.fences) {
    if (f.component.empty()) {
      diagnostics->Error(f.place,
                         "this fence has no component; write "
                         "// +mandate:component:name=NAME above it in this file");
      continue;
    }
    for (const std::string& resource : f.fence.resources) {
      if (MayWrite(sources, f, resource)) continue;
      diagnostics->Error(
          f.place, StrCat("the fence covers ", resource, ", but no rule allows ", f.component,
                          " to write it; remove the resource from the fence, or fix its name"));
    }
  }
}

}  // namespace

void CheckMandates(const Sources& sources, Severity unjustified, Diagnostics* diagnostics) {
  CheckFences(sources, diagnostics);
  for (const Declaration& d : sources.declarations) {
    if (d.component.empty()) {
      diagnostics->Error(d.place,
                         "this rule has no component; write "
                         "// +mandate:component:name=NAME above it in this file");
    }
    if (!d.role_name.empty()) {
      diagnostics->Error(d.place,
                         "roleName is not supported in a mandate: its roles are named after the "
                         "component; remove roleName");
    }
    if (const auto risk = Risk(d.rule); risk && d.justification.empty()) {
      diagnostics->Add(unjustified, d.place,
                       StrCat(*risk,
                              " needs a reason; write above it: // +mandate:justify:reason=\"why "
                              "this component must have it\""));
    }
  }
}

}  // namespace mandate::rbacgen
