// Leases.
#ifndef MANAGER_OBJECT_KINDS_COORDINATION_V1_H_
#define MANAGER_OBJECT_KINDS_COORDINATION_V1_H_

#include "k8s.io/api/coordination/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace coordinationv1 = ::k8s::io::api::coordination::v1;

template <>
struct KindOf<coordinationv1::Lease> {
  static constexpr KindInfo value = BuiltIn("coordination.k8s.io", "Lease", "leases");
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_COORDINATION_V1_H_
