// The admission plug-in OwnerReferencesPermissionEnforcement
// (k8s.io/kubernetes plugin/pkg/admission/gc), which some clusters enable, such as OpenShift's.
#pragma once

#include "absl/status/status.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// 403, with the real server's message, unless the user may set the object's owners: who changes
// the owners of an existing object may delete it, and who lets it block an owner's deletion may
// update that owner's finalizers.
absl::Status CheckOwnerPermissions(WriteHooks& hooks, const Kinds& kinds,
                                   const WriteAttributes& write);

}  // namespace mandate::apiserver
