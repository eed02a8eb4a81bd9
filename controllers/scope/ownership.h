// Which generated object belongs to which ScopeTemplate or ScopeInstance.
#ifndef CONTROLLERS_SCOPE_OWNERSHIP_H_
#define CONTROLLERS_SCOPE_OWNERSHIP_H_

#include <string_view>

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate::scope {

using ObjectMetaProto = k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta;

// Whether `object` was made for the owner with this UID: its controller is that owner; or it has
// no controller (somebody took the reference out) and carries the owner's UID in `uid_label`. An
// object with another controller is never ours, whatever its labels say.
bool BelongsTo(const ObjectMetaProto& object, std::string_view owner_uid,
               std::string_view uid_label);

// Makes `owner`, of this kind, the controller of `object`; the owner's deletion waits for it.
void SetControllerReference(const ObjectMetaProto& owner, const KindInfo& owner_kind,
                            ObjectMetaProto& object);

// Whether `object` has exactly that reference, as far as ours goes.
bool HasControllerReference(const ObjectMetaProto& owner, const KindInfo& owner_kind,
                            const ObjectMetaProto& object);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_OWNERSHIP_H_
