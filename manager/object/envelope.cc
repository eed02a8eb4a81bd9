#include "manager/object/envelope.h"

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);

// Fields of runtime.Unknown and of its TypeMeta.
constexpr uint32_t kTypeMeta = 1;
constexpr uint32_t kRaw = 2;
constexpr uint32_t kContentEncoding = 3;
constexpr uint32_t kContentType = 4;
constexpr uint32_t kApiVersion = 1;
constexpr uint32_t kKind = 2;

absl::Status ParseTypeMeta(std::string_view bytes, Envelope* envelope) {
  WireCursor wire(bytes);
  while (wire.Next()) {
    if (wire.field() == kApiVersion) envelope->api_version = wire.bytes();
    if (wire.field() == kKind) envelope->kind = wire.bytes();
  }
  return wire.status();
}

}  // namespace

bool HasEnvelope(std::string_view bytes) { return bytes.starts_with(kMagic); }

absl::StatusOr<Envelope> ParseEnvelope(std::string_view bytes) {
  if (!HasEnvelope(bytes)) {
    return absl::InvalidArgumentError(
        "the bytes do not start with \"k8s\\0\": they are not Kubernetes protobuf");
  }
  Envelope envelope;
  std::string_view encoding;
  std::string_view type;
  WireCursor wire(bytes.substr(kMagic.size()));
  while (wire.Next()) {
    switch (wire.field()) {
      case kTypeMeta:
        RETURN_IF_ERROR(ParseTypeMeta(wire.bytes(), &envelope));
        break;
      case kRaw:
        envelope.raw = wire.bytes();
        break;
      case kContentEncoding:
        encoding = wire.bytes();
        break;
      case kContentType:
        type = wire.bytes();
        break;
      default:
        break;
    }
  }
  RETURN_IF_ERROR(wire.status());
  if (!encoding.empty() || (!type.empty() && type != "application/vnd.kubernetes.protobuf")) {
    return absl::UnimplementedError(StrCat("the envelope's content has type \"", type,
                                           "\" and encoding \"", encoding,
                                           "\": only protobuf without an encoding can be read"));
  }
  return envelope;
}

// The API server writes empty fields, too. So do we: the bytes are the same.
std::string WriteEnvelope(const Envelope& envelope) {
  std::string type_meta;
  AppendWireBytes(kApiVersion, envelope.api_version, type_meta);
  AppendWireBytes(kKind, envelope.kind, type_meta);
  std::string out(kMagic);
  out.reserve(envelope.raw.size() + type_meta.size() + 24);
  AppendWireBytes(kTypeMeta, type_meta, out);
  AppendWireBytes(kRaw, envelope.raw, out);
  AppendWireBytes(kContentEncoding, "", out);
  AppendWireBytes(kContentType, "", out);
  return out;
}

}  // namespace mandate
