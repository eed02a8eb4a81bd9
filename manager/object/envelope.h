// The envelope of Kubernetes' protobuf encoding: "k8s\0" and a runtime.Unknown that names the kind.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

// Views into the bytes it was parsed from.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;  // the message itself
};

bool HasEnvelope(std::string_view bytes);

// kInvalidArgument when the bytes are not an envelope or are cut short; kUnimplemented when the
// content within is encoded or is not protobuf.
absl::StatusOr<Envelope> ParseEnvelope(std::string_view bytes);

std::string WriteEnvelope(const Envelope& envelope);

}  // namespace mandate
