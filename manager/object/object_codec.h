// An object as the bytes of a request or response body, in either encoding.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/object/kind.h"

namespace mandate {

// With apiVersion and kind: in the envelope (protobuf) or as members (JSON). Deterministic.
absl::StatusOr<std::string> EncodeObject(const google::protobuf::Message& object,
                                         const KindInfo& kind, Encoding encoding);

// Replaces the content of `out`. Protobuf may come with or without its envelope. Unknown protobuf
// fields are kept in the message; unknown JSON members are not.
absl::Status DecodeObject(std::string_view bytes, Encoding encoding,
                          google::protobuf::Message& out);

template <Object T>
absl::StatusOr<std::string> EncodeObject(const T& object, Encoding encoding) {
  return EncodeObject(object, KindOf<T>::value, encoding);
}

template <class T>
absl::StatusOr<T> DecodeObject(std::string_view bytes, Encoding encoding) {
  T object;
  absl::Status status;
  if constexpr (std::derived_from<T, google::protobuf::Message>) {
    status = DecodeObject(bytes, encoding, object);
  } else {
    status = DecodeObject(bytes, encoding, object.message());
    // Of a whole object, the rest would be kept as unknown fields.
    object.message().DiscardUnknownFields();
  }
  if (!status.ok()) return status;
  return object;
}

}  // namespace mandate
