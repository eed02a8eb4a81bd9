#include "manager/rbac/mandate_without.h"

#include "manager/core/strings.h"

namespace mandate::rbac {
namespace {

// Calls each(verb, group, resource or URL, whether it is a URL) for each entry of the rule.
void ForEach(const RuleView& rule, auto each) {
  for (std::string_view verb : rule.verbs) {
    for (std::string_view group : rule.api_groups) {
      for (std::string_view resource : rule.resources) each(verb, group, resource, false);
    }
    for (std::string_view url : rule.non_resource_urls) each(verb, "", url, true);
  }
}

Permission Of(const Mandate& mandate, std::string_view verb, std::string_view group,
              std::string_view resource) {
  return {std::string(mandate.component), std::string(verb), std::string(group),
          std::string(resource)};
}

}  // namespace

std::string Permission::ToString() const {
  const bool is_url = resource.starts_with('/');
  return StrCat(component, " ", verb, " ", resource, is_url ? "" : ".", group);
}

MandateWithout::MandateWithout(const Mandate& mandate, std::string_view without) {
  const auto list = [this](std::string_view word) {
    return std::span<const std::string_view>(&words_.emplace_back(word), 1);
  };
  for (const MandateRule& r : mandate.rules) {
    ForEach(r.rule, [&](std::string_view verb, std::string_view group, std::string_view resource,
                        bool is_url) {
      if (!r.external && Of(mandate, verb, group, resource).ToString() == without) return;
      MandateRule one = {.rule = {}, .ns = r.ns, .external = r.external};
      one.rule.verbs = list(verb);
      if (is_url) {
        one.rule.non_resource_urls = list(resource);
      } else {
        one.rule.api_groups = list(group);
        one.rule.resources = list(resource);
        one.rule.resource_names = r.rule.resource_names;
      }
      rules_.push_back(one);
    });
  }
  mandate_ = {mandate.component, rules_};
}

}  // namespace mandate::rbac
