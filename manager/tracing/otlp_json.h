// The messages of OTLP/HTTP with JSON (the OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "manager/core/trace.h"

namespace mandate {

// The process that the spans come from, in the names of OpenTelemetry's semantic conventions. An
// empty value is omitted.
struct OtlpResource {
  std::string service_name = {};         // service.name
  std::string service_version = {};      // service.version
  std::string service_instance_id = {};  // service.instance.id: unique among the replicas
  std::string namespace_name = {};       // k8s.namespace.name
};

// The attribute of each span that has its component.
inline constexpr std::string_view kComponentAttribute = "mandate.component";
// The attribute of a span that failed, with the name of the code: "PERMISSION_DENIED".
inline constexpr std::string_view kErrorAttribute = "error.type";

// The body of a request: an ExportTraceServiceRequest, compact, with the keys sorted. The two
// attributes above replace those that a span has under these names.
std::string OtlpTraceRequest(const OtlpResource& resource, std::span<const FinishedSpan> spans);

// The body of a response with code 200: an ExportTraceServiceResponse.
struct OtlpPartialSuccess {
  int64_t rejected_spans = 0;
  std::string error_message = {};  // may be a warning, if no span was rejected
};

// An empty body is a full success. kInvalidArgument: it is not such a message.
absl::StatusOr<OtlpPartialSuccess> ParseOtlpTraceResponse(std::string_view body);

}  // namespace mandate
