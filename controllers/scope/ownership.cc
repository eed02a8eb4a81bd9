#include "controllers/scope/ownership.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"

namespace mandate::scope {

bool IsOfKind(const OwnerReferenceProto& reference, const KindInfo& kind) {
  return reference.kind() == kind.kind &&
         std::string_view(reference.apiversion()).starts_with(StrCat(kind.group, "/"));
}

bool BelongsTo(const ObjectMetaProto& object, const KindInfo& owner_kind,
               std::string_view owner_uid, std::string_view uid_label) {
  if (owner_uid.empty()) return false;
  const OwnerReferenceProto* controller = ControllerOf(object);
  if (controller != nullptr) {
    return controller->uid() == owner_uid && IsOfKind(*controller, owner_kind);
  }
  const auto label = object.labels().find(std::string(uid_label));
  return label != object.labels().end() && label->second == owner_uid;
}

const OwnerReferenceProto* ControllerOf(const ObjectMetaProto& object) {
  const auto& references = object.ownerreferences();
  const auto found = std::find_if(references.begin(), references.end(),
                                  [](const auto& reference) { return reference.controller(); });
  return found == references.end() ? nullptr : &*found;
}

std::vector<std::string> OtherOwners(const ObjectMetaProto& object, std::string_view owner_uid) {
  std::vector<std::string> uids;
  for (const OwnerReferenceProto& reference : object.ownerreferences()) {
    if (reference.uid() != owner_uid) uids.push_back(reference.uid());
  }
  return uids;
}

std::string ControllerText(const ObjectMetaProto& object) {
  const OwnerReferenceProto* controller = ControllerOf(object);
  if (controller == nullptr) return "nobody";
  return StrCat(controller->kind(), " \"", controller->name(), "\"");
}

std::string LabelDifference(const ObjectMetaProto& desired, const ObjectMetaProto& actual,
                            bool exactly) {
  std::set<std::string> keys;
  for (const auto& [key, value] : desired.labels()) {
    const auto found = actual.labels().find(key);
    if (found == actual.labels().end() || found->second != value) keys.insert(key);
  }
  for (const auto& [key, value] : actual.labels()) {
    if (exactly && !desired.labels().contains(key)) keys.insert(key);
  }
  return keys.empty() ? "" : StrCat("label ", *keys.begin());
}

bool IsOrphaning(const ObjectMetaProto& object) {
  const auto& finalizers = object.finalizers();
  return object.has_deletiontimestamp() &&
         std::find(finalizers.begin(), finalizers.end(), "orphan") != finalizers.end();
}

bool MayBeOrphaned(const ObjectMetaProto& object, const ObjectMetaProto& owner) {
  return owner.has_deletiontimestamp() && ControllerOf(object) == nullptr;
}

std::string OrphanText(std::string_view sentence) {
  return StrCat(sentence,
                ". Its owner reference was removed (as `kubectl delete --cascade=orphan` does), so "
                "it is not deleted; delete it if it is not needed");
}

std::string FinalizersText(const ObjectMetaProto& object) {
  if (object.finalizers().empty()) return "it has no finalizers";
  return StrCat("finalizers ", absl::StrJoin(object.finalizers(), ", "), " block its deletion");
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
