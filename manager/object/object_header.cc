#include "manager/object/object_header.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_cursor.h"
#include "manager/object/metadata_reader.h"

namespace mandate {
namespace {

// Stores every part of a header.
class HeaderSink final : public MetadataSink {
 public:
  explicit HeaderSink(ObjectHeader* header) : header_(*header) {}

  void OnString(MetadataField field, std::string_view value) override {
    switch (field) {
      case MetadataField::kNamespace:
        header_.ns = value;
        break;
      case MetadataField::kName:
        header_.name = value;
        break;
      case MetadataField::kUid:
        header_.uid = value;
        break;
      case MetadataField::kResourceVersion:
        header_.resource_version = value;
        break;
      case MetadataField::kFinalizer:
        header_.finalizers.emplace_back(value);
        break;
    }
  }
  void OnGeneration(int64_t value) override { header_.generation = value; }
  void OnDeleting() override { header_.deleting = true; }
  void OnLabel(std::string_view key, std::string_view value) override {
    header_.labels[std::string(key)] = value;
  }
  void OnAnnotation(std::string_view key, std::string_view value) override {
    header_.annotations[std::string(key)] = value;
  }
  void OnOwner(const OwnerView& owner) override {
    header_.owners.push_back({std::string(owner.api_version), std::string(owner.kind),
                              std::string(owner.name), std::string(owner.uid), owner.controller});
  }

 private:
  ObjectHeader& header_;
};

}  // namespace

const OwnerReference* ObjectHeader::Controller() const {
  for (const OwnerReference& owner : owners) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

absl::StatusOr<ObjectHeader> ParseObjectHeader(std::string_view object, Encoding encoding) {
  ObjectHeader header;
  HeaderSink sink(&header);
  if (encoding == Encoding::kProtobuf) {
    RETURN_IF_ERROR(ReadMetadataProtobuf(object, sink));
  } else {
    JsonCursor json(object);
    RETURN_IF_ERROR(ReadMetadataJson(json, sink));
    RETURN_IF_ERROR(json.Finish());
  }
  return header;
}

absl::StatusOr<ObjectHeader> ParseMetadataFields(std::string_view fields) {
  ObjectHeader header;
  HeaderSink sink(&header);
  RETURN_IF_ERROR(ReadMetadataFields(fields, sink));
  return header;
}

}  // namespace mandate
