#include "testing/apiserver/object_io.h"

#include <array>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/object_codec.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/partial.h"
#include "testing/apiserver/status_response.h"

namespace mandate::apiserver {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;

std::unique_ptr<Message> New(const Descriptor& type) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

// Cannot fail: the message was made by FromJson or a parser.
Json::Value ToTree(const Message& message) {
  const absl::StatusOr<std::string> json = ToJson(message);
  return json.ok() ? ParseJson(*json).value_or(Json::Value(Json::objectValue))
                   : Json::Value(Json::objectValue);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kStructs = {
    {{"Lease", "spec"},
     {"RoleBinding", "roleRef"},
     {"ClusterRoleBinding", "roleRef"},
     {"Namespace", "spec"},
     {"Namespace", "status"}}};

// The members that Go's types write even if they are empty.
void WriteAlways(std::string_view kind, Json::Value& object) {
  if ((kind == "Role" || kind == "ClusterRole") && !object.isMember("rules")) {
    object["rules"] = Json::Value();
  }
  for (const auto& [of, member] : kStructs) {
    if (kind == of && !object.isMember(std::string(member))) {
      object[std::string(member)] = Json::Value(Json::objectValue);
    }
  }
  if (kind == "TokenRequest" && object["spec"].isObject() &&
      !object["spec"].isMember("boundObjectRef")) {
    object["spec"]["boundObjectRef"] = Json::Value();
  }
}

bool IsEmptyList(const Json::Value* value) {
  return value != nullptr && value->isArray() && value->empty();
}

// Go writes a number without a fraction as an integer, whatever its notation was.
void WholeNumbers(Json::Value& value) {
  if (value.type() == Json::realValue && value.isInt64()) value = Json::Value(value.asInt64());
  if (value.isArray() || value.isObject()) {
    for (Json::Value& element : value) WholeNumbers(element);
  }
}

// The members of metadata that Go's type does not write if they are empty.
void DropEmpty(Json::Value& metadata) {
  for (const std::string& name : metadata.getMemberNames()) {
    const Json::Value& member = metadata[name];
    if (member == Json::Value("") || member == Json::Value(0)) metadata.removeMember(name);
  }
}

absl::Status AnotherVersion(std::string_view api_version, const ResourceType& type) {
  return BadRequest(StrCat("the API version in the data (", api_version,
                           ") does not match the expected API version (", type.ApiVersion(), ")"));
}

// For a built-in kind. A custom object of another kind is rejected by validation.
absl::Status CheckTypeMeta(std::string_view api_version, std::string_view kind,
                           const ResourceType& type) {
  if (!api_version.empty() && api_version != type.ApiVersion()) {
    return AnotherVersion(api_version, type);
  }
  if (!kind.empty() && kind != type.kind) {
    return BadRequest(StrCat(kind, " in version ", rbac::Quote(type.version),
                             " cannot be handled as a ", type.kind, ": converting (v1.", kind,
                             ") to (v1.", type.kind, "): unknown conversion"));
  }
  return absl::OkStatus();
}

void SetTypeMeta(Json::Value& object, const ResourceType& type) {
  object["apiVersion"] = type.ApiVersion();
  object["kind"] = type.kind;
}

// Converts our message for a value of another type ("data[k]: expected a string, got a number") to
// Go's.
std::string GoError(std::string_view type, std::string_view message) {
  constexpr std::string_view kExpected = ": expected ";
  constexpr std::string_view kGot = ", got ";
  const size_t expected = message.find(kExpected);
  const size_t got = message.find(kGot);
  if (expected == message.npos || got == message.npos) return std::string(message);
  std::string_view path = message.substr(0, expected);
  if (path.ends_with(']')) path = path.substr(0, path.rfind('['));
  const auto noun = [](std::string_view phrase) {
    const std::string_view word = phrase.substr(phrase.find(' ') + 1);
    return word == "boolean" ? "bool" : word;
  };
  const size_t wanted = expected + kExpected.size();
  return StrCat("json: cannot unmarshal ", noun(message.substr(got + kGot.size())),
                " into Go struct field ",
                path.starts_with("metadata.") ? std::string_view("ObjectMeta") : type, ".", path,
                " of type ", noun(message.substr(wanted, got - wanted)));
}

const std::string& ProtobufOf(const StoredObject& object, const ResourceType& type) {
  if (object.protobuf.empty()) {
    const std::unique_ptr<Message> message = New(*type.message);
    // Cannot fail: Normalise() accepted the stored object.
    if (FromJson(object.json, *message).ok()) object.protobuf = message->SerializeAsString();
  }
  return object.protobuf;
}

// The object's JSON in another version of its kind.
std::string JsonOf(const StoredObject& object, const ResourceType& type) {
  const std::string head = StrCat(R"({"apiVersion":)", WriteJson(type.ApiVersion()), R"(,"kind":)",
                                  WriteJson(type.kind), ",");
  if (object.json.starts_with(head)) return object.json;
  return head + object.json.substr(object.type_meta);
}

// Appends a length-delimited field.
void AppendField(int number, std::string_view bytes, std::string* out) {
  google::protobuf::io::StringOutputStream stream(out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.WriteTag(static_cast<uint32_t>(number) << 3 | 2);
  coded.WriteVarint32(static_cast<uint32_t>(bytes.size()));
  coded.WriteRaw(bytes.data(), static_cast<int>(bytes.size()));
}

std::string ProtobufFrame(std::string_view event, std::string envelope) {
  meta::WatchEvent message;
  message.set_type(std::string(event));
  message.mutable_object()->set_raw(std::move(envelope));
  const std::string bytes = message.SerializeAsString();
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(bytes.size() >> shift);
  return frame + bytes;
}

std::string JsonFrame(std::string_view event, std::string_view object) {
  return StrCat(R"({"type":")", event, R"(","object":)", object, "}\n");
}

}  // namespace

absl::Status CheckApiVersion(const Json::Value& object, const ResourceType& type) {
  const std::string given = StringAt(object, "apiVersion");
  return given == type.ApiVersion() ? absl::OkStatus() : AnotherVersion(given, type);
}

absl::StatusOr<Json::Value> Normalise(const Json::Value& object, const ResourceType& type) {
  Json::Value out = object;
  const auto unreadable = [&](std::string_view of, const absl::Status& status) {
    return BadRequest(StrCat(type.kind, " in version ", rbac::Quote(type.version),
                             " cannot be handled as a ", type.kind, ": ",
                             GoError(of, AsStd(status.message()))));
  };
  if (type.message != nullptr) {
    const std::unique_ptr<Message> message = New(*type.message);
    if (absl::Status status = FromJson(WriteJson(object), *message); !status.ok()) {
      return unreadable(type.kind, status);
    }
    out = ToTree(*message);
    WriteAlways(type.kind, out);
    if (out.isMember("rules") && IsEmptyList(FindMember(object, "rules"))) {
      out["rules"] = Json::Value(Json::arrayValue);
    }
  } else if (type.custom() && FindMember(out, "metadata") != nullptr) {
    meta::ObjectMeta metadata;
    // Go ignores a null that it reads into a struct.
    const Json::Value& given = out["metadata"];
    const absl::Status status = FromJson(given.isNull() ? "{}" : WriteJson(given), metadata);
    if (!status.ok()) return unreadable("ObjectMeta", status);
    out["metadata"] = ToTree(metadata);
  }
  if (type.custom()) {
    WholeNumbers(out);
  } else {
    SetTypeMeta(out, type);
  }
  if (out.isMember("metadata")) {
    DropEmpty(out["metadata"]);
    if (!type.custom() && IsEmptyList(FindMember(MetadataOf(object), "managedFields"))) {
      out["metadata"]["managedFields"] = Json::Value(Json::arrayValue);
    }
  }
  return out;
}

void DropUnreadableTimes(Json::Value& object) {
  for (const char* name : {"creationTimestamp", "deletionTimestamp"}) {
    const Json::Value* time = FindMember(MetadataOf(object), name);
    if (time == nullptr || time->isObject() || time->isArray()) continue;
    Json::Value alone(Json::objectValue);
    alone[name] = *time;
    meta::ObjectMeta unused;
    if (!FromJson(WriteJson(alone), unused).ok()) MutableMetadata(object).removeMember(name);
  }
}

void DropEmptyLists(const ResourceType& type, Json::Value& object) {
  if (type.message != nullptr && IsEmptyList(FindMember(object, "rules"))) {
    object["rules"] = Json::Value();
  }
  if (IsEmptyList(FindMember(MetadataOf(object), "managedFields"))) {
    MutableMetadata(object).removeMember("managedFields");
  }
}

absl::StatusOr<Json::Value> ReadObject(std::string_view body, Encoding encoding,
                                       const ResourceType& type) {
  if (encoding == Encoding::kProtobuf) {
    const absl::StatusOr<Envelope> envelope = ParseEnvelope(body);
    if (!envelope.ok()) {
      return BadRequest(StrCat("the object provided is unrecognized (must be of type ", type.kind,
                               "): ", AsStd(envelope.status().message())));
    }
    RETURN_IF_ERROR(CheckTypeMeta(envelope->api_version, envelope->kind, type));
    const std::unique_ptr<Message> message = New(*type.message);
    if (!message->ParseFromArray(envelope->raw.data(), static_cast<int>(envelope->raw.size()))) {
      return BadRequest(StrCat("the object provided is unrecognized (must be of type ", type.kind,
                               "): the protobuf message is malformed"));
    }
    Json::Value object = ToTree(*message);
    SetTypeMeta(object, type);
    return object;
  }
  absl::StatusOr<Json::Value> object = ParseJson(body);
  if (!object.ok()) {
    return BadRequest(StrCat(
        "the object provided is unrecognized (must be of type ", type.kind,
        "): couldn't get version/kind; json parse error: ", AsStd(object.status().message())));
  }
  // For a built-in kind, null is an empty object.
  if (object->isNull() && !type.custom()) object = Json::Value(Json::objectValue);
  if (!object->isObject() && !object->isNull()) {
    return BadRequest(StrCat("the object provided is unrecognized (must be of type ", type.kind,
                             "): it is not a JSON object"));
  }
  const std::string api_version = StringAt(*object, "apiVersion");
  const std::string kind = StringAt(*object, "kind");
  if (!type.custom()) {
    RETURN_IF_ERROR(CheckTypeMeta(api_version, kind, type));
  } else if (const bool readable = api_version.find('/') == api_version.rfind('/');
             kind.empty() || !readable) {
    constexpr size_t kExcerpt = 30;
    const std::string excerpt =
        body.size() > kExcerpt ? StrCat(body.substr(0, kExcerpt), " ...") : std::string(body);
    const std::string why = readable ? StrCat("Object 'Kind' is missing in '", body, "'")
                                     : StrCat("unexpected GroupVersion string: ", api_version);
    return BadRequest(StrCat("the object provided is unrecognized (must be of type ", type.kind,
                             "): ", why, " (", excerpt, ")"));
  }
  return Normalise(*object, type);
}

absl::StatusOr<Json::Value> ReadMessage(std::string_view body, Encoding encoding,
                                        const Descriptor& type) {
  const std::unique_ptr<Message> message = New(type);
  if (body.empty()) return Json::Value(Json::objectValue);
  if (absl::Status status = mandate::DecodeObject(body, encoding, *message); !status.ok()) {
    return BadRequest(StrCat("the object provided is unrecognized (must be of type ", type.name(),
                             "): ", AsStd(status.message())));
  }
  return ToTree(*message);
}

absl::StatusOr<std::string> WriteMessage(const Json::Value& value, std::string_view api_version,
                                         std::string_view kind, Encoding encoding,
                                         const Descriptor& type) {
  const std::unique_ptr<Message> message = New(type);
  RETURN_IF_ERROR(FromJson(WriteJson(value), *message));
  if (encoding == Encoding::kProtobuf) {
    return WriteEnvelope(
        {.api_version = api_version, .kind = kind, .raw = message->SerializeAsString()});
  }
  Json::Value whole = ToTree(*message);
  WriteAlways(kind, whole);
  whole["apiVersion"] = std::string(api_version);
  whole["kind"] = std::string(kind);
  return WriteJson(whole);
}

std::string WriteObject(const StoredObject& object, const ResourceType& type, Encoding encoding) {
  if (type.metadata_only) return WriteObject(*PartialOf(object), PartialType(), encoding);
  if (encoding == Encoding::kJson) return JsonOf(object, type);
  const std::string api_version = type.ApiVersion();
  return WriteEnvelope(
      {.api_version = api_version, .kind = type.kind, .raw = ProtobufOf(object, type)});
}

std::string WriteList(const std::vector<std::shared_ptr<const StoredObject>>& items,
                      const ListMeta& list, const ResourceType& type, Encoding encoding) {
  if (type.metadata_only) {
    std::vector<std::shared_ptr<const StoredObject>> partial;
    for (const auto& item : items) partial.push_back(PartialOf(*item));
    return WriteList(partial, list, PartialType(), encoding);
  }
  meta::ListMeta message;
  message.set_resourceversion(std::to_string(list.revision));
  if (!list.continue_token.empty()) message.set_continue_(list.continue_token);
  if (list.remaining) message.set_remainingitemcount(*list.remaining);
  const std::string api_version = type.ApiVersion();
  std::string out;
  if (encoding == Encoding::kProtobuf) {
    AppendField(1, message.SerializeAsString(), &out);
    for (const auto& item : items) AppendField(2, ProtobufOf(*item, type), &out);
    return WriteEnvelope({.api_version = api_version, .kind = type.list_kind, .raw = out});
  }
  // Lists of custom kinds have an empty continue token.
  const std::string meta =
      type.custom() && list.continue_token.empty()
          ? StrCat(R"({"continue":"",)", ToJson(message).value_or("{}").substr(1))
          : ToJson(message).value_or("{}");
  out = StrCat(R"({"kind":)", WriteJson(type.list_kind), R"(,"apiVersion":)",
               WriteJson(api_version), R"(,"metadata":)", meta, R"(,"items":[)");
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    // Items of built-in kinds have no apiVersion and kind. Their metadata has.
    if (type.protobuf() && &type != &PartialType()) {
      out += '{';
      out.append(items[i]->json, items[i]->type_meta);
    } else {
      out += JsonOf(*items[i], type);
    }
  }
  return out + "]}";
}

std::string WriteEvent(std::string_view event, const StoredObject& object, const ResourceType& type,
                       Encoding encoding) {
  std::string body = WriteObject(object, type, encoding);
  return encoding == Encoding::kProtobuf ? ProtobufFrame(event, std::move(body))
                                         : JsonFrame(event, body);
}

std::string WriteBookmark(int64_t revision, bool initial_events_end, const ResourceType& type,
                          Encoding encoding) {
  if (type.metadata_only) {
    return WriteBookmark(revision, initial_events_end, PartialType(), encoding);
  }
  Json::Value object(Json::objectValue);
  SetTypeMeta(object, type);
  WriteAlways(type.kind, object);
  if (initial_events_end) {
    MutableMetadata(object)["annotations"]["k8s.io/initial-events-end"] = "true";
  }
  return WriteEvent("BOOKMARK", *MakeStored(std::move(object), revision), type, encoding);
}

std::string WriteErrorEvent(const absl::Status& error, Encoding encoding) {
  constexpr KindInfo kKind = {.group = "", .version = "v1", .kind = "Status", .plural = ""};
  std::string body = EncodeObject(StatusOf(error), kKind, encoding).value_or("{}");
  return encoding == Encoding::kProtobuf ? ProtobufFrame("ERROR", std::move(body))
                                         : JsonFrame("ERROR", body);
}

}  // namespace mandate::apiserver
