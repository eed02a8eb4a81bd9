#include "manager/tracing/otlp_json.h"

#include <jsoncpp/json/json.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

constexpr int kInternal = 1;     // SPAN_KIND_INTERNAL
constexpr int kClient = 3;       // SPAN_KIND_CLIENT
constexpr int kStatusError = 2;  // STATUS_CODE_ERROR

Json::Value Text(std::string_view text) { return {text.data(), text.data() + text.size()}; }

// 64-bit integers are decimal strings, as in protobuf's JSON.
Json::Value Int64(int64_t value) { return Text(std::to_string(value)); }

// Trace and span ids are hexadecimal, other than in protobuf's JSON.
Json::Value Hex(std::span<const uint8_t> id) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(id.data()), id.size()});
}

void AddAttribute(Json::Value& attributes, std::string_view name,
                  const std::variant<std::string, int64_t>& value) {
  Json::Value& attribute = attributes.append(Json::objectValue);
  attribute["key"] = Text(name);
  if (const auto* text = std::get_if<std::string>(&value)) {
    attribute["value"]["stringValue"] = Text(*text);
  } else {
    attribute["value"]["intValue"] = Int64(std::get<int64_t>(value));
  }
}

Json::Value ResourceOf(const OtlpResource& resource) {
  Json::Value json(Json::objectValue);
  Json::Value& attributes = json["attributes"] = Json::arrayValue;
  const std::pair<const char*, const std::string&> all[] = {
      {"service.name", resource.service_name},
      {"service.version", resource.service_version},
      {"service.instance.id", resource.service_instance_id},
      {"k8s.namespace.name", resource.namespace_name},
  };
  for (const auto& [name, value] : all) {
    if (!value.empty()) AddAttribute(attributes, name, value);
  }
  return json;
}

Json::Value AttributesOf(const FinishedSpan& span) {
  const bool failed = span.error != absl::StatusCode::kOk;
  Json::Value attributes(Json::arrayValue);
  AddAttribute(attributes, kComponentAttribute, span.component);
  for (const SpanAttribute& attribute : span.attributes) {
    const bool replaced =
        attribute.name == kComponentAttribute || (failed && attribute.name == kErrorAttribute);
    if (!replaced) AddAttribute(attributes, attribute.name, attribute.value);
  }
  if (failed) AddAttribute(attributes, kErrorAttribute, absl::StatusCodeToString(span.error));
  return attributes;
}

Json::Value SpanJson(const FinishedSpan& span) {
  Json::Value json(Json::objectValue);
  json["traceId"] = Hex(span.trace_id);
  json["spanId"] = Hex(span.span_id);
  if (span.parent_id != SpanId{}) json["parentSpanId"] = Hex(span.parent_id);
  json["name"] = Text(span.name);
  json["kind"] = span.kind == SpanKind::kClient ? kClient : kInternal;
  json["startTimeUnixNano"] = Int64(absl::ToUnixNanos(span.start));
  json["endTimeUnixNano"] = Int64(absl::ToUnixNanos(span.end));
  json["attributes"] = AttributesOf(span);
  if (span.dropped_attributes > 0) json["droppedAttributesCount"] = span.dropped_attributes;
  if (span.error != absl::StatusCode::kOk) {
    json["status"]["code"] = kStatusError;
    if (!span.error_message.empty()) json["status"]["message"] = Text(span.error_message);
  }
  return json;
}

}  // namespace

std::string OtlpTraceRequest(const OtlpResource& resource, std::span<const FinishedSpan> spans) {
  Json::Value request(Json::objectValue);
  Json::Value& all = request["resourceSpans"] = Json::arrayValue;
  if (!spans.empty()) {
    Json::Value& of_resource = all.append(Json::objectValue);
    of_resource["resource"] = ResourceOf(resource);
    Json::Value& of_scope =
        (of_resource["scopeSpans"] = Json::arrayValue).append(Json::objectValue);
    of_scope["scope"]["name"] = "mandate";
    if (!resource.service_version.empty()) {
      of_scope["scope"]["version"] = Text(resource.service_version);
    }
    Json::Value& list = of_scope["spans"] = Json::arrayValue;
    for (const FinishedSpan& span : spans) list.append(SpanJson(span));
  }
  return WriteJson(request);
}

absl::StatusOr<OtlpPartialSuccess> ParseOtlpTraceResponse(std::string_view body) {
  OtlpPartialSuccess parsed;
  if (body.empty()) return parsed;
  ASSIGN_OR_RETURN(const Json::Value json, ParseJson(body));
  if (!json.isObject()) return absl::InvalidArgumentError("it is not a JSON object");
  const Json::Value* const partial = FindMember(json, "partialSuccess");
  if (partial == nullptr) return parsed;
  if (const Json::Value* const message = FindMember(*partial, "errorMessage");
      message != nullptr && message->isString()) {
    parsed.error_message = message->asString();
  }
  const Json::Value* const rejected = FindMember(*partial, "rejectedSpans");
  if (rejected == nullptr) return parsed;
  // Receivers of int64 accept numbers and strings.
  if (rejected->isInt64()) {
    parsed.rejected_spans = rejected->asInt64();
  } else if (!rejected->isString() ||
             !absl::SimpleAtoi(rejected->asString(), &parsed.rejected_spans)) {
    return absl::InvalidArgumentError("its partialSuccess.rejectedSpans is not a number");
  }
  return parsed;
}

}  // namespace mandate
