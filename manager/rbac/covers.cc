#include "manager/rbac/covers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "manager/rbac/quote.h"

namespace mandate::rbac {
namespace {

bool Has(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool HoldsResource(const std::vector<std::string>& held, std::string_view wanted) {
  if (Has(held, "*") || Has(held, wanted)) return true;
  const size_t slash = wanted.find('/');
  return slash != std::string_view::npos &&
         Has(held, StrCat("*", std::string(wanted.substr(slash))));
}

// `one` is a result of Breakdown().
bool CoversOne(const Rule& held, const Rule& one) {
  if (!VerbMatches(held, one.verbs.front())) return false;
  if (!one.non_resource_urls.empty()) {
    // Upstream compares the names of rules for URLs, too, and such rules have no names.
    return held.resource_names.empty() && UrlMatches(held, one.non_resource_urls.front());
  }
  const bool name =
      held.resource_names.empty() ||
      (!one.resource_names.empty() && Has(held.resource_names, one.resource_names.front()));
  return name && GroupMatches(held, one.api_groups.front()) &&
         HoldsResource(held.resources, one.resources.front());
}

}  // namespace

std::vector<Rule> Breakdown(const Rule& rule) {
  std::vector<Rule> parts;
  for (const std::string& group : rule.api_groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        Rule part{.verbs = {verb}, .api_groups = {group}, .resources = {resource}};
        if (rule.resource_names.empty()) parts.push_back(part);
        for (const std::string& name : rule.resource_names) {
          part.resource_names = {name};
          parts.push_back(part);
        }
      }
    }
  }
  for (const std::string& url : rule.non_resource_urls) {
    for (const std::string& verb : rule.verbs) {
      parts.push_back({.verbs = {verb}, .non_resource_urls = {url}});
    }
  }
  return parts;
}

std::vector<Rule> Uncovered(std::span<const Rule> held, std::span<const Rule> wanted) {
  std::vector<Rule> missing;
  for (const Rule& rule : wanted) {
    for (Rule& part : Breakdown(rule)) {
      if (std::none_of(held.begin(), held.end(),
                       [&](const Rule& h) { return CoversOne(h, part); })) {
        missing.push_back(std::move(part));
      }
    }
  }
  return missing;
}

std::string CompactString(const Rule& rule) {
  std::vector<std::string> fields;
  const auto add = [&](std::string_view label, const std::vector<std::string>& values) {
    if (values.empty()) return;
    fields.push_back(StrCat(label, ":[",
                            absl::StrJoin(values, " ",
                                          [](std::string* out, const std::string& value) {
                                            StrAppend(out, Quote(value));
                                          }),
                            "]"));
  };
  add("APIGroups", rule.api_groups);
  add("Resources", rule.resources);
  add("NonResourceURLs", rule.non_resource_urls);
  add("ResourceNames", rule.resource_names);
  add("Verbs", rule.verbs);
  return StrCat("{", absl::StrJoin(fields, ", "), "}");
}

}  // namespace mandate::rbac
