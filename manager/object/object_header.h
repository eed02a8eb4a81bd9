// The metadata that caches, handlers and indexes need, without decoding the rest of the object.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/object/kind.h"

namespace mandate {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;

  bool operator==(const OwnerReference&) const = default;
};

// A value.
struct ObjectHeader {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<OwnerReference> owners;
  std::vector<std::string> finalizers;
  bool deleting = false;  // has a deletionTimestamp

  bool operator==(const ObjectHeader&) const = default;
  ObjectKey Key() const { return {ns, name}; }
  // The owner that is marked as controller; nullptr when none is.
  const OwnerReference* Controller() const;
};

// Parses the header of a whole object: JSON, or protobuf without an envelope. The text is checked
// to its end as far as that does not need the object's type. kInvalidArgument names what is wrong.
absl::StatusOr<ObjectHeader> ParseObjectHeader(std::string_view object, Encoding encoding);

// The same of what LeadingMetadata() (metadata_reader.h) returned.
absl::StatusOr<ObjectHeader> ParseMetadataFields(std::string_view fields);

}  // namespace mandate
