#include "controllers/access_observer/held_roles.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "manager/core/sha256.h"
#include "manager/core/strings.h"

namespace mandate::access {
namespace {

using ObjectPtr = std::shared_ptr<const RawObject>;

// As long as the names of most kinds may be.
constexpr size_t kLongestName = 253;

template <class Message>
ObjectPtr Held(const Message& part, ObjectPtr whole) {
  const auto held = ParseRawObject(part.SerializeAsString(), Encoding::kProtobuf);
  return held.ok() ? *held : std::move(whole);
}

template <class Meta>
void CopyPlace(const Meta& from, Meta& to) {
  to.set_namespace_(from.namespace_());
  to.set_name(HeldName(from.name()));
  to.set_uid(from.uid());
  to.set_resourceversion(from.resourceversion());
}

}  // namespace

std::string HeldName(std::string_view name) {
  if (name.size() <= kLongestName) return std::string(name);
  // RBAC accepts no "/" in a name.
  return StrCat("/", absl::BytesToHexString(Sha256({name})));
}

ObjectPtr OnlyPlace(ObjectPtr object) {
  // The metadata of every kind decodes as this.
  const auto whole = object->Decode<Metadata<rbacv1::Role>>();
  if (!whole.ok()) return object;
  Metadata<rbacv1::Role>::Message part;
  CopyPlace(whole->metadata(), *part.mutable_metadata());
  return Held(part, std::move(object));
}

ObjectPtr OnlyRole(ObjectPtr binding) {
  const auto whole = binding->Decode<rbacv1::RoleBinding>();
  if (!whole.ok()) return binding;
  rbacv1::RoleBinding part;
  CopyPlace(whole->metadata(), *part.mutable_metadata());
  *part.mutable_roleref() = whole->roleref();
  part.mutable_roleref()->set_name(HeldName(whole->roleref().name()));
  return Held(part, std::move(binding));
}

}  // namespace mandate::access
