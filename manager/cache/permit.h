// What a component's mandate says of a demand, before anything is sent.
#ifndef MANAGER_CACHE_PERMIT_H_
#define MANAGER_CACHE_PERMIT_H_

#include "absl/status/status.h"
#include "manager/cache/cache.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// kPermissionDenied with the marker to add when the mandate does not cover list and watch of
// exactly this scope.
absl::Status CheckDemand(const rbac::Mandate& mandate, const DemandSpec& spec);

}  // namespace mandate

#endif  // MANAGER_CACHE_PERMIT_H_
