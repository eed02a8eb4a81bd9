// The media types of objects.
#pragma once

#include <string>

#include "manager/core/strings.h"
#include "manager/object/kind.h"
#include "manager/transport/transport.h"

namespace mandate {

inline constexpr char kJsonType[] = "application/json";
inline constexpr char kProtobufType[] = "application/vnd.kubernetes.protobuf";

// The Accept header for objects of the kind. JSON is a fallback: for the errors of proxies, and for
// servers that serve the kind only as JSON.
inline std::string AcceptOf(const KindInfo& kind) {
  return kind.encoding == Encoding::kProtobuf ? StrCat(kProtobufType, ",", kJsonType) : kJsonType;
}

// Of the body.
inline Encoding EncodingOf(const HttpResponse& response) {
  return response.content_type.starts_with(kProtobufType) ? Encoding::kProtobuf : Encoding::kJson;
}

}  // namespace mandate
