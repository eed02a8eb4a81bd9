#include "manager/object/apply.h"

#include <memory>

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/strings.h"
#include "manager/object/json_codec.h"

namespace mandate {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using ObjectMeta = k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta;

const FieldDescriptor* Field(const Message& message, const char* name) {
  return message.GetDescriptor()->FindFieldByName(name);
}

// A field that only the server writes; null if the object has none.
const char* FieldOfServer(const ObjectMeta& metadata) {
  if (metadata.managedfields_size() > 0) return "managedFields";
  if (metadata.has_generation()) return "generation";
  if (metadata.has_creationtimestamp()) return "creationTimestamp";
  if (metadata.has_deletiontimestamp()) return "deletionTimestamp";
  if (metadata.has_deletiongraceperiodseconds()) return "deletionGracePeriodSeconds";
  if (metadata.has_selflink()) return "selfLink";
  return nullptr;
}

// Removes everything but the object's names and its status.
void KeepStatus(Message* object, ObjectMeta* metadata) {
  for (int i = 0; i < object->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = object->GetDescriptor()->field(i);
    if (field->name() != "metadata" && field->name() != "status") {
      object->GetReflection()->ClearField(object, field);
    }
  }
  ObjectMeta names;
  if (metadata->has_name()) names.set_name(metadata->name());
  if (metadata->has_namespace_()) names.set_namespace_(metadata->namespace_());
  if (metadata->has_uid()) names.set_uid(metadata->uid());
  if (metadata->has_resourceversion()) names.set_resourceversion(metadata->resourceversion());
  *metadata = std::move(names);
}

}  // namespace

absl::StatusOr<std::string> ApplyBody(const Message& object, const KindInfo& kind, ApplyPart part) {
  const std::unique_ptr<Message> body(object.New());
  body->CopyFrom(object);
  const FieldDescriptor* field = Field(*body, "metadata");
  if (field == nullptr || field->message_type() != ObjectMeta::descriptor()) {
    return absl::InvalidArgumentError(StrCat(object.GetTypeName(), " has no metadata"));
  }
  auto* metadata =
      static_cast<ObjectMeta*>(body->GetReflection()->MutableMessage(body.get(), field));
  if (metadata->name().empty()) {
    return absl::InvalidArgumentError(
        StrCat("metadata.name: missing in the ", kind.kind, " to apply"));
  }
  if (const char* field = FieldOfServer(*metadata)) {
    return absl::InvalidArgumentError(StrCat(
        "metadata.", field, ": the ", kind.kind, " ", metadata->name(),
        " was read from the server, and an apply would take ownership of all its fields; apply "
        "a new object that has only the fields to own"));
  }
  if (part == ApplyPart::kStatus) {
    KeepStatus(body.get(), metadata);
  } else if (const FieldDescriptor* status = Field(*body, "status")) {
    body->GetReflection()->ClearField(body.get(), status);
  }
  return ToJson(*body, &kind);
}

}  // namespace mandate
