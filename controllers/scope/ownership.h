// Decides whether a generated object belongs to a ScopeTemplate or ScopeInstance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate::scope {

using ObjectMetaProto = k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta;
using OwnerReferenceProto = k8s::io::apimachinery::pkg::apis::meta::v1::OwnerReference;

// Whether `object` claims to belong to the owner of this kind and UID: its controller is that
// owner; or it has no controller (another user removed the reference) and has the owner's UID in
// `uid_label`. An object with another controller is never ours, whatever its labels are. Other
// users can write labels and references, so the name has to be ours too (binding.h,
// cluster_role.h).
bool BelongsTo(const ObjectMetaProto& object, const KindInfo& owner_kind,
               std::string_view owner_uid, std::string_view uid_label);

// Whether the reference names an object of the kind, in any version.
bool IsOfKind(const OwnerReferenceProto& reference, const KindInfo& kind);

// The owner reference that is marked as controller, or null.
const OwnerReferenceProto* ControllerOf(const ObjectMetaProto& object);

// The UIDs of the object's other owners. Garbage collection keeps an object while one of its owners
// is there.
std::vector<std::string> OtherOwners(const ObjectMetaProto& object, std::string_view owner_uid);

// For messages: `Namespace "foo"`, or "nobody" without a controller.
std::string ControllerText(const ObjectMetaProto& object);

// The difference between the labels of two objects: "label KEY" for the first key whose label is
// missing in `actual` or has another value there; "" when no label differs. With `exactly`, a label
// that only `actual` has is a difference too. Conditions contain the text, so the same objects
// always give the same text.
std::string LabelDifference(const ObjectMetaProto& desired, const ObjectMetaProto& actual,
                            bool exactly);

// Whether the object is being deleted by `kubectl delete --cascade=orphan`, which keeps the objects
// that it owns.
bool IsOrphaning(const ObjectMetaProto& object);

// Whether such a deletion may have orphaned `object`, which was made for `owner`: it has no
// controller any more, and other finalizers keep the owner, which is being deleted.
bool MayBeOrphaned(const ObjectMetaProto& object, const ObjectMetaProto& owner);

// For messages. `sentence` is about the object: "ClusterRole "foo" still exists". The result is
// "ClusterRole "foo" still exists. Its owner reference was removed …".
std::string OrphanText(std::string_view sentence);

// For messages: "finalizers a, b block its deletion", or "it has no finalizers".
std::string FinalizersText(const ObjectMetaProto& object);

// Makes `owner`, of this kind, the controller of `object`; the owner's deletion waits for it.
void SetControllerReference(const ObjectMetaProto& owner, const KindInfo& owner_kind,
                            ObjectMetaProto& object);

// Whether `object` has exactly that reference; other references do not matter.
bool HasControllerReference(const ObjectMetaProto& owner, const KindInfo& owner_kind,
                            const ObjectMetaProto& object);

}  // namespace mandate::scope
