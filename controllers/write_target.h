// The target of a write, for which its slowness is remembered.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "manager/object/kind.h"

namespace mandate {

// The namespace of the object, or the object itself, when it is the cluster's.
inline ObjectKey TargetOf(const ObjectKey& object) {
  return object.ns.empty() ? object : ObjectKey{object.ns, ""};
}

// By target: whether each write there was quick, and the API server took it.
using TriedTargets = absl::flat_hash_map<ObjectKey, bool>;

}  // namespace mandate
