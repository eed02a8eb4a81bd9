#include "manager/cache/permit.h"

#include <string>

#include "manager/core/strings.h"
#include "manager/rbac/request_marker.h"

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
  return absl::PermissionDeniedError(StrCat(
      "the mandate of ", mandate.component, " does not let it read ", spec.ToString(),
      ": nothing was sent; add to its source ", rbac::MarkerFor(Ask("list", spec), missing)));
}

}  // namespace mandate
