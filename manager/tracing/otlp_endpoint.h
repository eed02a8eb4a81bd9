// The address of an OpenTelemetry collector.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

// The URL to which spans are posted. `endpoint` is the URL of a collector that receives OTLP over
// HTTP. Without a path it gets /v1/traces, as OTEL_EXPORTER_OTLP_ENDPOINT does; another path is
// used as it is.
//
// kInvalidArgument: it is not such a URL. Its scheme is "https", or "http" if its host is localhost
// or a loopback address: spans name the objects of the cluster. It has no user, password, query and
// fragment. The message does not repeat a user or a password.
absl::StatusOr<std::string> OtlpTracesUrl(std::string_view endpoint);

}  // namespace mandate
