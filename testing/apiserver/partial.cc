#include "testing/apiserver/partial.h"

#include <utility>

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"

namespace mandate::apiserver {

const ResourceType& PartialType() {
  static const ResourceType* const type = [] {
    auto* partial = new ResourceType();
    partial->name.group = "meta.k8s.io";
    partial->version = "v1";
    partial->kind = "PartialObjectMetadata";
    partial->list_kind = "PartialObjectMetadataList";
    partial->message =
        k8s::io::apimachinery::pkg::apis::meta::v1::PartialObjectMetadata::descriptor();
    return partial;
  }();
  return *type;
}

std::shared_ptr<const StoredObject> PartialOf(const StoredObject& object) {
  Json::Value partial(Json::objectValue);
  partial["apiVersion"] = PartialType().ApiVersion();
  partial["kind"] = PartialType().kind;
  partial["metadata"] = object.Parse()["metadata"];
  return MakeStored(std::move(partial), object.revision);
}

}  // namespace mandate::apiserver
