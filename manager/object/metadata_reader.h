// An object's metadata, read straight out of its bytes, in either encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "manager/object/json_cursor.h"

namespace mandate {

// Strings of metadata; a finalizer for each that there is.
enum class MetadataField { kNamespace, kName, kUid, kResourceVersion, kFinalizer };

struct OwnerView {
  std::string_view api_version;
  std::string_view kind;
  std::string_view name;
  std::string_view uid;
  bool controller = false;
};

// Receives the fields of the metadata. Views live as long as the bytes do, or for escaped JSON
// strings as long as the cursor does.
class MetadataSink {
 public:
  virtual ~MetadataSink() = default;
  virtual void OnString(MetadataField field, std::string_view value) = 0;
  virtual void OnGeneration(int64_t) {}
  virtual void OnDeleting() {}
  virtual void OnLabel(std::string_view /*key*/, std::string_view /*value*/) {}
  virtual void OnAnnotation(std::string_view /*key*/, std::string_view /*value*/) {}
  virtual void OnOwner(const OwnerView&) {}
};

// Reads one whole object, the cursor's next value, and checks it to its end as far as that does not
// need its type. kInvalidArgument names what is wrong; the cursor may then stand within the object.
absl::Status ReadMetadataJson(JsonCursor& json, MetadataSink& sink);
// The same of all of `message`.
absl::Status ReadMetadataProtobuf(std::string_view message, MetadataSink& sink);

// The part of an object in protobuf that has all that a MetadataSink receives, for
// ReadMetadataFields(): its metadata up to managedFields, which are most of it. None if its fields
// are in an unusual order.
std::optional<std::string_view> LeadingMetadata(std::string_view message);
absl::Status ReadMetadataFields(std::string_view fields, MetadataSink& sink);

}  // namespace mandate
