#include "testing/apiserver/access/audit_event.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "boost/asio/ip/address.hpp"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/object_codec.h"
#include "manager/object/object_header.h"
#include "manager/object/time.h"
#include "testing/apiserver/access/identity_review.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

using StatusProto = k8s::io::apimachinery::pkg::apis::meta::v1::Status;

constexpr size_t kMaxUserAgent = 1024;

// The metadata of the object in the body; empty fields if it cannot be read.
ObjectHeader HeaderOf(const std::string& body) {
  ObjectHeader header;
  if (const auto envelope = ParseEnvelope(body); envelope.ok()) {
    if (auto parsed = ParseObjectHeader(envelope->raw, Encoding::kProtobuf); parsed.ok()) {
      header = *std::move(parsed);
    }
    return header;
  }
  const auto json = ParseJson(body);
  if (!json.ok()) return header;
  const Json::Value& metadata = Member(*json, "metadata");
  header.ns = StringAt(metadata, "namespace");
  header.name = StringAt(metadata, "name");
  header.uid = StringAt(metadata, "uid");
  header.resource_version = StringAt(metadata, "resourceVersion");
  return header;
}

void SetIfAny(Json::Value& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

Json::Value ObjectRef(const Request& request) {
  const rbac::Attributes& attributes = request.attributes;
  ObjectHeader header;
  header.ns = attributes.ns;
  header.name = attributes.name;
  // The server reads the body only after authorization; until then it knows only the path.
  const auto decision = request.notes->annotations.find("authorization.k8s.io/decision");
  const bool read = decision != request.notes->annotations.end() && decision->second == "allow";
  if (read && (request.method == "POST" || request.method == "PUT")) {
    const ObjectHeader sent = HeaderOf(request.body);
    if (header.ns.empty()) header.ns = sent.ns;
    if (header.name.empty()) header.name = sent.name;
    header.uid = sent.uid;
    header.resource_version = sent.resource_version;
  }
  Json::Value ref(Json::objectValue);
  ref["resource"] = attributes.resource;
  SetIfAny(ref, "namespace", header.ns);
  SetIfAny(ref, "name", header.name);
  SetIfAny(ref, "uid", header.uid);
  SetIfAny(ref, "apiGroup", attributes.api_group);
  SetIfAny(ref, "apiVersion", attributes.api_version);
  SetIfAny(ref, "resourceVersion", header.resource_version);
  SetIfAny(ref, "subresource", attributes.subresource);
  return ref;
}

// The address as the server prints it; empty if it is invalid.
std::string Address(std::string_view text) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(
      std::string(AsStd(absl::StripAsciiWhitespace(AsAbsl(text)))), error);
  return error ? "" : address.to_string();
}

// The addresses in the request's headers, and then the sender's.
std::vector<std::string> SourceIps(const Request& request) {
  std::vector<std::string> ips;
  for (const absl::string_view part :
       absl::StrSplit(AsAbsl(request.Header("x-forwarded-for").value_or("")), ',')) {
    if (std::string ip = Address(AsStd(part)); !ip.empty()) ips.push_back(ip);
  }
  const std::string real = Address(request.Header("x-real-ip").value_or(""));
  if (!real.empty() && std::find(ips.begin(), ips.end(), real) == ips.end()) ips.push_back(real);
  if (ips.empty() || ips.back() != request.source_ip) ips.push_back(request.source_ip);
  return ips;
}

}  // namespace

Json::Value ResponseStatus(const Response& response) {
  Json::Value status(Json::objectValue);
  status["metadata"] = Json::objectValue;
  status["code"] = response.code;
  // The body of an error, and of most deletions, is a Status.
  Json::Value body;
  if (const auto envelope = ParseEnvelope(response.body); envelope.ok()) {
    StatusProto message;
    if (envelope->kind != "Status" ||
        !DecodeObject(envelope->raw, Encoding::kProtobuf, message).ok()) {
      return status;
    }
    body = ParseJson(ToJson(message).value_or("{}")).value_or(Json::Value());
  } else if (auto json = ParseJson(response.body);
             json.ok() && StringAt(*json, "kind") == "Status") {
    body = *std::move(json);
  }
  for (const char* field : {"status", "message", "reason", "details"}) {
    if (const Json::Value& value = Member(body, field); !value.isNull()) status[field] = value;
  }
  return status;
}

Json::Value AuditEvent(const Request& request, std::string_view audit_id, std::string_view stage,
                       absl::Time stage_time, const Json::Value& status) {
  Json::Value event(Json::objectValue);
  event["kind"] = "Event";
  event["apiVersion"] = "audit.k8s.io/v1";
  event["level"] = "Metadata";
  event["auditID"] = std::string(audit_id);
  event["stage"] = std::string(stage);
  event["requestURI"] = request.target;
  event["verb"] = request.attributes.verb;
  event["user"] = UserJson(request.user);
  event["sourceIPs"] = JsonList(SourceIps(request));
  std::string agent(request.Header("user-agent").value_or(""));
  if (agent.size() > kMaxUserAgent) agent = agent.substr(0, kMaxUserAgent) + "...TRUNCATED";
  SetIfAny(event, "userAgent", agent);
  if (request.attributes.is_resource_request) event["objectRef"] = ObjectRef(request);
  if (!status.isNull()) event["responseStatus"] = status;
  event["requestReceivedTimestamp"] = FormatMicroTimestamp(request.received);
  event["stageTimestamp"] = FormatMicroTimestamp(stage_time);
  for (const auto& [key, value] : request.notes->annotations) event["annotations"][key] = value;
  return event;
}

}  // namespace mandate::apiserver
