#include "manager/object/object_codec.h"

#include <limits>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json_codec.h"

namespace mandate {
namespace {

using google::protobuf::Message;

// Maps are sorted by key, so that the same message always gives the same bytes.
absl::StatusOr<std::string> Serialize(const Message& message) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  if (message.SerializePartialToCodedStream(&coded)) {
    coded.Trim();
    return out;
  }
  return absl::InvalidArgumentError(
      StrCat("a ", message.GetTypeName(), " is larger than the limit of protobuf, 2 GiB"));
}

}  // namespace

absl::StatusOr<std::string> EncodeObject(const Message& object, const KindInfo& kind,
                                         Encoding encoding) {
  if (encoding == Encoding::kJson) return ToJson(object, &kind);
  ASSIGN_OR_RETURN(const std::string raw, Serialize(object));
  return WriteEnvelope({.api_version = kind.ApiVersion(), .kind = kind.kind, .raw = raw});
}

absl::Status DecodeObject(std::string_view bytes, Encoding encoding, Message& out) {
  if (encoding == Encoding::kJson) return FromJson(bytes, out);
  if (HasEnvelope(bytes)) {
    ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(bytes));
    bytes = envelope.raw;
  }
  if (bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()) &&
      out.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat("the ", bytes.size(), " bytes are not a ", out.GetTypeName()));
}

}  // namespace mandate
