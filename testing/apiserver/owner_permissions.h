// The admission plug-in OwnerReferencesPermissionEnforcement
// (k8s.io/kubernetes plugin/pkg/admission/gc), which some clusters enable, such as OpenShift's.
#pragma once

#include "absl/status/status.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// 403, with the real server's message, unless the user may set the object's owners. To change the
// owners of an existing object, the user must be allowed to delete it. To let it block an owner's
// deletion, the user must be allowed to update that owner's finalizers.
absl::Status CheckOwnerPermissions(WriteHooks& hooks, const Kinds& kinds,
                                   const WriteAttributes& write);

}  // namespace mandate::apiserver
