#include "manager/cache/permit.h"

#include <string>

#include "manager/core/strings.h"

namespace mandate {
namespace {

rbac::Attributes Ask(const char* verb, const DemandSpec& spec) {
  rbac::Attributes request;
  request.verb = verb;
  request.api_group = std::string(spec.kind.group);
  request.api_version = std::string(spec.kind.version);
  request.resource = std::string(spec.kind.plural);
  request.ns = spec.ns;
  request.name = spec.name;
  return request;
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
  std::string marker =
      StrCat("// +kubebuilder:rbac:groups=", spec.kind.group.empty() ? R"("")" : spec.kind.group,
             ",resources=", spec.kind.plural);
  if (!spec.ns.empty()) StrAppend(&marker, ",namespace=", spec.ns);
  if (!spec.name.empty()) StrAppend(&marker, ",resourceNames=", spec.name);
  StrAppend(&marker, ",verbs=", missing);
  return absl::PermissionDeniedError(StrCat("the mandate of ", mandate.component,
                                            " does not let it read ", spec.ToString(),
                                            ": nothing was sent; add to its source ", marker));
}

}  // namespace mandate
