#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

Json::Value StoredObject::Parse() const {
  // Cannot fail: WriteJson wrote it.
  return ParseJson(json).value();
}

std::shared_ptr<StoredObject> MakeStored(Json::Value object, int64_t revision) {
  auto stored = std::make_shared<StoredObject>();
  if (revision != kOwnRevision) MutableMetadata(object).removeMember("resourceVersion");
  if (revision > 0) MutableMetadata(object)["resourceVersion"] = std::to_string(revision);
  stored->ns = MetaString(object, "namespace");
  stored->name = MetaString(object, "name");
  stored->uid = MetaString(object, "uid");
  stored->revision = revision;
  stored->labels = LabelsOf(object);
  stored->deleting = IsDeleting(object);
  const Json::Value* owners = FindMember(MetadataOf(object), "ownerReferences");
  stored->owned = owners != nullptr && !owners->empty();
  const std::string head = StrCat(R"({"apiVersion":)", WriteJson(object["apiVersion"]),
                                  R"(,"kind":)", WriteJson(object["kind"]), ",");
  object.removeMember("apiVersion");
  object.removeMember("kind");
  stored->json = head + WriteJson(object).substr(1);
  stored->type_meta = head.size();
  return stored;
}

}  // namespace mandate::apiserver
