#include "manager/cache/check_demand.h"

#include <map>
#include <string>
#include <string_view>

#include "manager/core/strings.h"
#include "manager/object/names.h"
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

// The verbs of a demand that the mandate lacks, as a marker lists them: "", "watch", "list;watch".
std::string MissingVerbs(const rbac::Mandate& mandate, const DemandSpec& spec) {
  std::string missing;
  for (const char* verb : {"list", "watch"}) {
    if (!rbac::PermitsRequest(mandate, Ask(verb, spec))) {
      StrAppend(&missing, missing.empty() ? "" : ";", verb);
    }
  }
  return missing;
}

// The texts of the narrower demands for which the mandate has a rule: "pods in namespace foo".
std::map<std::string, DemandSpec> DeclaredParts(const rbac::Mandate& mandate,
                                                const DemandSpec& spec) {
  std::map<std::string, DemandSpec> parts;
  const auto consider = [&](std::string_view ns, std::string_view name) {
    const DemandSpec part{spec.kind, std::string(ns.empty() ? spec.ns : ns),
                          std::string(name.empty() ? spec.name : name)};
    const bool within = (spec.ns.empty() || part.ns == spec.ns) &&
                        (spec.name.empty() || part.name == spec.name) && part != spec;
    if (within && MissingVerbs(mandate, part) != "list;watch") {
      parts.emplace(part.ToString(), part);
    }
  };
  for (const rbac::MandateRule& r : mandate.rules) {
    if (!rbac::GroupMatches(r.rule, spec.kind.group) ||
        !rbac::ResourceMatches(r.rule, spec.kind.plural, "")) {
      continue;
    }
    if (r.rule.resource_names.empty()) consider(r.ns, "");
    for (const std::string_view name : r.rule.resource_names) consider(r.ns, name);
  }
  return parts;
}

// Advice how to change the demand so that the mandate covers it. It never widens the component's
// permissions.
std::string Advice(const rbac::Mandate& mandate, const DemandSpec& spec, std::string_view missing) {
  constexpr int kMost = 3;
  const std::map<std::string, DemandSpec> parts = DeclaredParts(mandate, spec);
  std::string covered;
  int listed = 0;
  for (const auto& [text, part] : parts) {
    if (!MissingVerbs(mandate, part).empty()) continue;
    if (++listed <= kMost) StrAppend(&covered, listed == 1 ? "" : ", ", text);
  }
  if (listed > 0) {
    return StrCat("narrow the demand to the mandate's rules: ", covered,
                  listed > kMost ? ", …" : "");
  }
  const auto marker = [](const DemandSpec& part, std::string_view verbs) {
    return StrCat("add to its source ", rbac::MarkerFor(Ask("list", part), verbs));
  };
  if (parts.empty()) return marker(spec, missing);
  const auto& [text, part] = *parts.begin();
  return StrCat("narrow the demand to ", text, ", and ", marker(part, MissingVerbs(mandate, part)));
}

// A name becomes a part of a path, or of a field selector. Its kind has more rules, which only the
// server knows.
absl::Status CheckName(std::string_view name) {
  if (absl::Status valid = CheckPathSegment(name); !valid.ok()) return valid;
  if (name.find_first_of(",=!\\") == name.npos) return absl::OkStatus();
  return absl::InvalidArgumentError("it has a character of selectors");
}

absl::Status CheckText(std::string_view what, std::string_view text, const DemandSpec& spec,
                       absl::Status (*check)(std::string_view)) {
  if (text.empty()) return absl::OkStatus();
  if (text == DemandSpec::kEmpty) {
    return absl::InvalidArgumentError(
        StrCat("the demand of ", spec.kind.plural, " has an empty ", what, ": nothing was sent"));
  }
  const absl::Status valid = check(text);
  if (valid.ok()) return valid;
  return absl::InvalidArgumentError(StrCat("the demand of ", spec.kind.plural, " has an invalid ",
                                           what, ": ", AsStd(valid.message()),
                                           "; nothing was sent"));
}

}  // namespace

absl::Status CheckDemand(const rbac::Mandate& mandate, const DemandSpec& spec) {
  if (absl::Status valid = CheckText("namespace", spec.ns, spec, CheckDnsLabel); !valid.ok()) {
    return valid;
  }
  if (absl::Status valid = CheckText("name", spec.name, spec, CheckName); !valid.ok()) return valid;
  const std::string missing = MissingVerbs(mandate, spec);
  if (missing.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      StrCat("the mandate of ", mandate.component, " does not allow reading ", spec.ToString(),
             ": nothing was sent; ", Advice(mandate, spec, missing)));
}

}  // namespace mandate
