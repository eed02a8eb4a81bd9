#include "controllers/scope/ownership.h"

#include <algorithm>

namespace mandate::scope {

bool BelongsTo(const ObjectMetaProto& object, std::string_view owner_uid,
               std::string_view uid_label) {
  if (owner_uid.empty()) return false;
  for (const auto& reference : object.ownerreferences()) {
    if (reference.controller()) return reference.uid() == owner_uid;
  }
  const auto label = object.labels().find(std::string(uid_label));
  return label != object.labels().end() && label->second == owner_uid;
}

void SetControllerReference(const ObjectMetaProto& owner, const KindInfo& owner_kind,
                            ObjectMetaProto& object) {
  auto& reference = *object.add_ownerreferences();
  reference.set_apiversion(owner_kind.ApiVersion());
  reference.set_kind(std::string(owner_kind.kind));
  reference.set_name(owner.name());
  reference.set_uid(owner.uid());
  reference.set_controller(true);
  reference.set_blockownerdeletion(true);
}

bool HasControllerReference(const ObjectMetaProto& owner, const KindInfo& owner_kind,
                            const ObjectMetaProto& object) {
  const auto& references = object.ownerreferences();
  return std::any_of(references.begin(), references.end(), [&](const auto& r) {
    return r.uid() == owner.uid() && r.name() == owner.name() && r.kind() == owner_kind.kind &&
           r.apiversion() == owner_kind.ApiVersion() && r.controller() && r.blockownerdeletion();
  });
}

}  // namespace mandate::scope
