// Checks a demand against the component's mandate, before anything is sent.
#pragma once

#include "absl/status/status.h"
#include "manager/cache/cache_view.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// kInvalidArgument if the namespace or the name is empty, or cannot be one: often it comes from an
// object. kPermissionDenied if the mandate does not cover list and watch of exactly this scope. If
// the mandate covers a part of it, the message asks to narrow the demand to that part; else it has
// the marker to add.
absl::Status CheckDemand(const rbac::Mandate& mandate, const DemandSpec& spec);

}  // namespace mandate
