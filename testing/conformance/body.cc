#include "testing/conformance/body.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_split.h"
#include "google/protobuf/message.h"
#include "k8s.io/api/apps/v1/generated.pb.h"
#include "k8s.io/api/authentication/v1/generated.pb.h"
#include "k8s.io/api/authorization/v1/generated.pb.h"
#include "k8s.io/api/coordination/v1/generated.pb.h"
#include "k8s.io/api/core/v1/generated.pb.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/kind.h"

namespace mandate::conformance {
namespace {

namespace api = ::k8s::io::api;
namespace metav1 = ::k8s::io::apimachinery::pkg::apis::meta::v1;
using google::protobuf::Message;

// Links the generated files: no other code here refers to them, so the linker would omit them.
void LinkKinds() {
  using google::protobuf::LinkMessageReflection;
  LinkMessageReflection<api::apps::v1::Deployment>();
  LinkMessageReflection<api::authentication::v1::TokenRequest>();
  LinkMessageReflection<api::authorization::v1::SubjectAccessReview>();
  LinkMessageReflection<api::coordination::v1::Lease>();
  LinkMessageReflection<api::core::v1::ConfigMap>();
  LinkMessageReflection<api::rbac::v1::Role>();
  LinkMessageReflection<metav1::Status>();
}

// The message of an apiVersion and kind, such as "rbac.authorization.k8s.io/v1" and "Role".
absl::StatusOr<std::unique_ptr<Message>> NewMessage(std::string_view api_version,
                                                    std::string_view kind) {
  LinkKinds();
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(AsAbsl(api_version), absl::MaxSplits('/', 1));
  const bool core = parts.second.empty();
  const std::string group = core ? "core" : parts.first.substr(0, parts.first.find('.'));
  const auto& pool = *google::protobuf::DescriptorPool::generated_pool();
  const auto* descriptor = pool.FindMessageTypeByName(
      StrCat("k8s.io.api.", group, ".", core ? parts.first : parts.second, ".", kind));
  if (descriptor == nullptr) {
    descriptor = pool.FindMessageTypeByName(StrCat("k8s.io.apimachinery.pkg.apis.meta.v1.", kind));
  }
  if (descriptor == nullptr) {
    return absl::InvalidArgumentError(StrCat("no protobuf kind ", api_version, " ", kind));
  }
  const Message* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor);
  return std::unique_ptr<Message>(prototype->New());
}

std::string MemberText(const Json::Value& object, std::string_view key) {
  const Json::Value* member = FindMember(object, key);
  return member != nullptr && member->isString() ? member->asString() : "";
}

absl::StatusOr<Json::Value> DecodeProtobuf(std::string_view bytes) {
  ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(bytes));
  ASSIGN_OR_RETURN(const std::unique_ptr<Message> message,
                   NewMessage(envelope.api_version, envelope.kind));
  if (!message->ParseFromArray(envelope.raw.data(), static_cast<int>(envelope.raw.size()))) {
    return absl::InvalidArgumentError(StrCat("the bytes are not a valid ", envelope.kind));
  }
  ASSIGN_OR_RETURN(const std::string text, ToJson(*message));
  ASSIGN_OR_RETURN(Json::Value json, ParseJson(text));
  json["apiVersion"] = std::string(envelope.api_version);
  json["kind"] = std::string(envelope.kind);
  return json;
}

bool IsProtobuf(std::string_view content_type) { return content_type.starts_with(kProtobufType); }

absl::StatusOr<std::optional<Json::Value>> TakeLine(std::string& buffer) {
  const size_t end = buffer.find('\n');
  if (end == std::string::npos) return std::nullopt;
  ASSIGN_OR_RETURN(Json::Value event, ParseJson(buffer.substr(0, end)));
  buffer.erase(0, end + 1);
  return event;
}

// A frame starts with its length: 4 bytes, the most significant first.
absl::StatusOr<std::optional<Json::Value>> TakeFrame(std::string& buffer) {
  if (buffer.size() < 4) return std::nullopt;
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(buffer[i]);
  if (buffer.size() < size_t{4} + size) return std::nullopt;
  metav1::WatchEvent event;
  if (!event.ParseFromArray(buffer.data() + 4, static_cast<int>(size))) {
    return absl::InvalidArgumentError("the frame is not a watch event");
  }
  buffer.erase(0, size_t{4} + size);
  Json::Value json;
  json["type"] = event.type();
  ASSIGN_OR_RETURN(json["object"], DecodeProtobuf(event.object().raw()));
  return json;
}

}  // namespace

absl::StatusOr<std::string> EncodeBody(const Json::Value& body, std::string_view content_type) {
  if (body.isString()) return body.asString();
  if (!IsProtobuf(content_type)) return WriteJson(body);
  const std::string api_version = MemberText(body, "apiVersion");
  const std::string kind = MemberText(body, "kind");
  ASSIGN_OR_RETURN(const std::unique_ptr<Message> message, NewMessage(api_version, kind));
  RETURN_IF_ERROR(FromJson(WriteJson(body), *message, {.strict = true}));
  const std::string raw = message->SerializeAsString();
  return WriteEnvelope({.api_version = api_version, .kind = kind, .raw = raw});
}

absl::StatusOr<Json::Value> DecodeBody(std::string_view bytes, std::string_view content_type) {
  return IsProtobuf(content_type) ? DecodeProtobuf(bytes) : ParseJson(bytes);
}

absl::StatusOr<std::optional<Json::Value>> TakeEvent(std::string& buffer,
                                                     std::string_view content_type) {
  return IsProtobuf(content_type) ? TakeFrame(buffer) : TakeLine(buffer);
}

}  // namespace mandate::conformance
