// The metadata of an object whose type is known only at run time.
#pragma once

#include "google/protobuf/message.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"

namespace mandate {

using ObjectMeta = k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta;

// Null if the message has no field `metadata` of that type. Both borrow from `object`.
inline ObjectMeta* MutableMetadataOf(google::protobuf::Message& object) {
  const auto* field = object.GetDescriptor()->FindFieldByName("metadata");
  if (field == nullptr || field->message_type() != ObjectMeta::descriptor()) return nullptr;
  return static_cast<ObjectMeta*>(object.GetReflection()->MutableMessage(&object, field));
}

// The default instance if the message has no metadata.
inline const ObjectMeta& MetadataOf(const google::protobuf::Message& object) {
  const auto* field = object.GetDescriptor()->FindFieldByName("metadata");
  if (field == nullptr || field->message_type() != ObjectMeta::descriptor()) {
    return ObjectMeta::default_instance();
  }
  return static_cast<const ObjectMeta&>(object.GetReflection()->GetMessage(object, field));
}

}  // namespace mandate
