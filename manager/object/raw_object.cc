#include "manager/object/raw_object.h"

#include <cstring>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json_cursor.h"
#include "manager/object/metadata_reader.h"

namespace mandate {
namespace {

// Only what identifies the object.
struct IdentitySink final : MetadataSink {
  void OnString(MetadataField field, std::string_view value) override {
    switch (field) {
      case MetadataField::kNamespace:
        ns = value;
        break;
      case MetadataField::kName:
        name = value;
        break;
      case MetadataField::kUid:
        uid = value;
        break;
      case MetadataField::kResourceVersion:
        resource_version = value;
        break;
      case MetadataField::kFinalizer:
        break;
    }
  }
  std::string_view ns;
  std::string_view name;
  std::string_view uid;
  std::string_view resource_version;
};

}  // namespace

RawObject::RawObject(Passkey, std::string bytes, Encoding encoding)
    : bytes_(std::move(bytes)), encoding_(encoding) {
  bytes_.shrink_to_fit();
}

absl::Status RawObject::Index() {
  IdentitySink sink;
  JsonCursor json(encoding_ == Encoding::kJson ? std::string_view(bytes_) : std::string_view());
  RETURN_IF_ERROR(encoding_ == Encoding::kJson ? ReadMetadataJson(json, sink)
                                               : ReadMetadataProtobuf(bytes_, sink));
  if (sink.name.empty()) {
    return absl::InvalidArgumentError("metadata.name: missing; this is no Kubernetes object");
  }
  // Views that are not of the bytes (escaped JSON) die with the cursor: they are copied.
  std::string_view* const targets[] = {&ns_, &name_, &uid_, &resource_version_};
  const std::string_view sources[] = {sink.ns, sink.name, sink.uid, sink.resource_version};
  for (size_t i = 0; i < std::size(targets); ++i) {
    *targets[i] = sources[i];
    if (sources[i].empty() || encoding_ != Encoding::kJson || json.InText(sources[i])) continue;
    if (unescaped_ == nullptr) unescaped_ = std::make_unique<std::string[]>(std::size(targets));
    unescaped_[i] = sources[i];
    *targets[i] = unescaped_[i];
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const RawObject>> RawObject::Parse(std::string bytes,
                                                                  Encoding encoding) {
  if (encoding == Encoding::kProtobuf && HasEnvelope(bytes)) {
    ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(bytes));
    bytes = std::string(envelope.raw);
  }
  auto object = std::make_shared<RawObject>(Passkey(), std::move(bytes), encoding);
  RETURN_IF_ERROR(object->Index());
  return object;
}

ObjectHeader RawObject::Header() const {
  // Index() has read the same bytes with the same rules.
  return *ParseObjectHeader(bytes_, encoding_);
}

absl::StatusOr<std::shared_ptr<const RawObject>> ParseRawObject(std::string bytes,
                                                                Encoding encoding) {
  return RawObject::Parse(std::move(bytes), encoding);
}

}  // namespace mandate
