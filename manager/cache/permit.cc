#include "manager/cache/permit.h"

#include <set>
#include <string>
#include <string_view>

#include "manager/core/strings.h"
#include "manager/rbac/request_marker.h"

namespace mandate {
namespace {

rbac::Attributes Ask(const char* verb, const DemandSpec& spec) {
  rbac::Attributes request;
  request.verb = verb;
  request.api_group = std::string(spec.kind.group);
  request.resource = std::string(spec.kind.plural);
  request.ns = spec.ns;
  request.name = spec.name;
  return request;
}

bool CoversBoth(const rbac::Mandate& mandate, const DemandSpec& spec) {
  return rbac::Covers(mandate, Ask("list", spec)) && rbac::Covers(mandate, Ask("watch", spec));
}

// The parts of the demand that the mandate covers, as its rules name them: "pods in namespace foo,
// pods foo/me"; "" when there are none.
std::string DeclaredParts(const rbac::Mandate& mandate, const DemandSpec& spec) {
  constexpr int kMost = 3;
  std::set<std::string> parts;
  const auto consider = [&](std::string_view ns, std::string_view name) {
    const DemandSpec part{spec.kind, std::string(ns.empty() ? spec.ns : ns),
                          std::string(name.empty() ? spec.name : name)};
    const bool within = (spec.ns.empty() || part.ns == spec.ns) &&
                        (spec.name.empty() || part.name == spec.name) && part != spec;
    if (within && CoversBoth(mandate, part)) parts.insert(part.ToString());
  };
  for (const rbac::MandateRule& r : mandate.rules) {
    if (!rbac::GroupMatches(r.rule, spec.kind.group) ||
        !rbac::ResourceMatches(r.rule, spec.kind.plural, "")) {
      continue;
    }
    if (r.rule.resource_names.empty()) consider(r.ns, "");
    for (const std::string_view name : r.rule.resource_names) consider(r.ns, name);
  }
  std::string text;
  int listed = 0;
  for (const std::string& part : parts) {
    if (++listed > kMost) return text + ", …";
    StrAppend(&text, text.empty() ? "" : ", ", part);
  }
  return text;
}

}  // namespace

absl::Status CheckDemand(const rbac::Mandate& mandate, const DemandSpec& spec) {
  std::string missing;
  for (const char* verb : {"list", "watch"}) {
    if (!rbac::Covers(mandate, Ask(verb, spec))) {
      StrAppend(&missing, missing.empty() ? "" : ";", verb);
    }
  }
  if (missing.empty()) return absl::OkStatus();
  const std::string declared = DeclaredParts(mandate, spec);
  return absl::PermissionDeniedError(StrCat(
      "the mandate of ", mandate.component, " does not let it read ", spec.ToString(),
      ": nothing was sent; ",
      // Advice never widens what a component may do.
      declared.empty() ? StrCat("add to its source ", rbac::MarkerFor(Ask("list", spec), missing))
                       : StrCat("narrow the demand to what the mandate has: ", declared)));
}

}  // namespace mandate
