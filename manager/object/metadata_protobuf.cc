#include "manager/core/status_macros.h"
#include "manager/object/metadata_reader.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

// Every object has its ObjectMeta in field 1.
constexpr uint32_t kMetadata = 1;

// Fields of meta/v1 ObjectMeta.
enum ObjectMeta : uint32_t {
  kName = 1,
  kNamespace = 3,
  kUid = 5,
  kResourceVersion = 6,
  kGeneration = 7,
  kDeletionTimestamp = 9,
  kLabels = 11,
  kAnnotations = 12,
  kOwnerReferences = 13,
  kFinalizers = 14,
  kManagedFields = 17,
};

// Fields of meta/v1 OwnerReference.
enum Owner : uint32_t {
  kOwnerKind = 1,
  kOwnerName = 3,
  kOwnerUid = 4,
  kOwnerApiVersion = 5,
  kOwnerController = 6,
};

// Fields of meta/v1 Time.
enum Time : uint32_t { kSeconds = 1, kNanos = 2 };

// A field whose wire type differs from the schema's is unknown, as in protobuf.

template <class Entry>
absl::Status ReadEntry(std::string_view bytes, const Entry& entry) {
  std::string_view key;
  std::string_view value;
  WireCursor wire(bytes);
  while (wire.Next()) {
    if (!wire.has_bytes()) continue;
    if (wire.field() == 1) key = wire.bytes();
    if (wire.field() == 2) value = wire.bytes();
  }
  RETURN_IF_ERROR(wire.status());
  entry(key, value);
  return absl::OkStatus();
}

absl::Status ReadOwner(std::string_view bytes, MetadataSink& sink) {
  OwnerView owner;
  WireCursor wire(bytes);
  while (wire.Next()) {
    if (wire.has_varint() && wire.field() == kOwnerController)
      owner.controller = wire.varint() != 0;
    if (!wire.has_bytes()) continue;
    switch (wire.field()) {
      case kOwnerApiVersion:
        owner.api_version = wire.bytes();
        break;
      case kOwnerKind:
        owner.kind = wire.bytes();
        break;
      case kOwnerName:
        owner.name = wire.bytes();
        break;
      case kOwnerUid:
        owner.uid = wire.bytes();
        break;
      default:
        break;
    }
  }
  RETURN_IF_ERROR(wire.status());
  sink.OnOwner(owner);
  return absl::OkStatus();
}

// An empty message is the zero time, which means that the object is not being deleted.
absl::Status ReadDeletion(std::string_view bytes, MetadataSink& sink) {
  WireCursor wire(bytes);
  while (wire.Next()) {
    const bool is_time = wire.field() == kSeconds || wire.field() == kNanos;
    if (is_time && wire.has_varint()) sink.OnDeleting();
  }
  return wire.status();
}

absl::Status ReadDetail(const WireCursor& wire, MetadataSink& sink) {
  switch (wire.field()) {
    case kDeletionTimestamp:
      return ReadDeletion(wire.bytes(), sink);
    case kLabels:
      return ReadEntry(wire.bytes(), [&](auto k, auto v) { sink.OnLabel(k, v); });
    case kAnnotations:
      return ReadEntry(wire.bytes(), [&](auto k, auto v) { sink.OnAnnotation(k, v); });
    case kOwnerReferences:
      return ReadOwner(wire.bytes(), sink);
    case kFinalizers:
      sink.OnString(MetadataField::kFinalizer, wire.bytes());
      break;
    default:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadMetadataFields(std::string_view fields, MetadataSink& sink) {
  WireCursor wire(fields);
  while (wire.Next()) {
    if (wire.has_varint() && wire.field() == kGeneration) {
      sink.OnGeneration(static_cast<int64_t>(wire.varint()));
    }
    if (!wire.has_bytes()) continue;
    switch (wire.field()) {
      case kName:
        sink.OnString(MetadataField::kName, wire.bytes());
        break;
      case kNamespace:
        sink.OnString(MetadataField::kNamespace, wire.bytes());
        break;
      case kUid:
        sink.OnString(MetadataField::kUid, wire.bytes());
        break;
      case kResourceVersion:
        sink.OnString(MetadataField::kResourceVersion, wire.bytes());
        break;
      default:
        RETURN_IF_ERROR(ReadDetail(wire, sink));
    }
  }
  return wire.status();
}

absl::Status ReadMetadataProtobuf(std::string_view message, MetadataSink& sink) {
  WireCursor wire(message);
  while (wire.Next()) {
    if (wire.field() == kMetadata && wire.has_bytes()) {
      RETURN_IF_ERROR(ReadMetadataFields(wire.bytes(), sink));
    }
  }
  return wire.status();
}

std::optional<std::string_view> LeadingMetadata(std::string_view message) {
  WireCursor wire(message);
  if (!wire.Next() || wire.field() != kMetadata || !wire.has_bytes()) return std::nullopt;
  const std::string_view metadata = wire.bytes();
  while (wire.Next()) {
    if (wire.field() == kMetadata) return std::nullopt;
  }
  size_t leading = 0;
  bool is_leading = true;
  for (WireCursor field(metadata); field.Next();) {
    const bool is_managed = field.field() == kManagedFields;
    if (!is_managed && !is_leading) return std::nullopt;
    is_leading = !is_managed;
    if (is_leading) leading = metadata.size() - field.left();
  }
  return metadata.substr(0, leading);
}

}  // namespace mandate
