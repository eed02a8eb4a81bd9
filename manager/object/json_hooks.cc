#include "manager/object/json_hooks.h"

#include <cstdint>
#include <unordered_map>

#include "absl/strings/numbers.h"
#include "manager/core/printable.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/duration.h"
#include "manager/object/json_text.h"
#include "manager/object/quantity.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Token = JsonCursor::Token;

// The fields of IntOrString (k8s.io/apimachinery/pkg/util/intstr).
constexpr int kIntOrStringType = 1;
constexpr int kIntOrStringInt = 2;
constexpr int kIntOrStringString = 3;

const FieldDescriptor& Field(const Message& message, int number) {
  return *message.GetDescriptor()->FindFieldByNumber(number);
}

// Field 1 of every hooked message has its value, or the first half of it.
const FieldDescriptor& Value(const Message& message) { return Field(message, 1); }

absl::Status Mismatch(std::string_view expected, JsonCursor& json) {
  const Token token = json.Peek();
  if (token == Token::kInvalid) {
    json.SkipValue();
    return json.status();
  }
  return absl::InvalidArgumentError(
      StrCat("expected ", expected, ", got ", JsonCursor::Describe(token)));
}

absl::Status ReadString(JsonCursor& json, std::string_view* value) {
  if (json.Peek() != Token::kString) return Mismatch("a string", json);
  json.ReadString(value);
  return json.status();
}

std::string_view StringOf(const Message& message, int number, std::string& scratch) {
  return message.GetReflection()->GetStringReference(message, &Field(message, number), &scratch);
}

absl::Time TimeOf(const Message& message) {
  const auto& reflection = *message.GetReflection();
  return absl::FromUnixSeconds(reflection.GetInt64(message, &Value(message))) +
         absl::Nanoseconds(reflection.GetInt32(message, &Field(message, 2)));
}

// Time has a precision of seconds, and MicroTime of microseconds. Both always set their nanos.
absl::Status DecodeTime(bool micro, JsonCursor& json, Message& message) {
  std::string_view text;
  RETURN_IF_ERROR(ReadString(json, &text));
  ASSIGN_OR_RETURN(const absl::Time time, micro ? ParseMicroTimestamp(text) : ParseTimestamp(text));
  const int64_t seconds = absl::ToUnixSeconds(time);
  const absl::Duration rest = time - absl::FromUnixSeconds(seconds);
  message.GetReflection()->SetInt64(&message, &Value(message), seconds);
  message.GetReflection()->SetInt32(
      &message, &Field(message, 2),
      micro ? static_cast<int32_t>(absl::ToInt64Microseconds(rest)) * 1000 : 0);
  return absl::OkStatus();
}

absl::Status DecodeDuration(JsonCursor& json, Message& message) {
  std::string_view text;
  RETURN_IF_ERROR(ReadString(json, &text));
  ASSIGN_OR_RETURN(const int64_t nanoseconds, ParseGoDuration(text));
  message.GetReflection()->SetInt64(&message, &Value(message), nanoseconds);
  return absl::OkStatus();
}

absl::Status DecodeQuantity(JsonCursor& json, Message& message) {
  std::string_view text;
  if (json.Peek() == Token::kNumber) {
    json.ReadNumber(&text);
    RETURN_IF_ERROR(json.status());
  } else {
    RETURN_IF_ERROR(ReadString(json, &text));
  }
  // The text is kept as it is. A quantity that is too large to compare is valid, too.
  const absl::Status status = Quantity::Parse(text).status();
  if (absl::IsInvalidArgument(status)) return status;
  message.GetReflection()->SetString(&message, &Value(message), std::string(text));
  return absl::OkStatus();
}

absl::Status DecodeIntOrString(JsonCursor& json, Message& message) {
  const auto& reflection = *message.GetReflection();
  std::string_view text;
  int32_t number = 0;
  if (json.Peek() == Token::kString) {
    RETURN_IF_ERROR(ReadString(json, &text));
    reflection.SetInt64(&message, &Field(message, kIntOrStringType), 1);
  } else if (json.Peek() == Token::kNumber) {
    json.ReadNumber(&text);
    RETURN_IF_ERROR(json.status());
    if (!absl::SimpleAtoi(AsAbsl(text), &number)) {
      return absl::InvalidArgumentError(StrCat(text, " is not a 32-bit integer"));
    }
    text = "";
    reflection.SetInt64(&message, &Field(message, kIntOrStringType), 0);
  } else {
    return Mismatch("a string or a number", json);
  }
  reflection.SetInt32(&message, &Field(message, kIntOrStringInt), number);
  reflection.SetString(&message, &Field(message, kIntOrStringString), std::string(text));
  return absl::OkStatus();
}

absl::Status DecodeEmbedded(JsonCursor& json, Message& message) {
  std::string_view source;
  if (!json.SkipValue(&source)) return json.status();
  message.GetReflection()->SetString(&message, &Value(message), std::string(source));
  return absl::OkStatus();
}

absl::Status DecodeStringList(JsonCursor& json, Message& message) {
  if (json.Peek() != Token::kArray) return Mismatch("an array of strings", json);
  for (json.BeginArray(); json.NextElement();) {
    std::string_view text;
    RETURN_IF_ERROR(ReadString(json, &text));
    message.GetReflection()->AddString(&message, &Value(message), std::string(text));
  }
  return json.status();
}

absl::Status EncodeTime(bool micro, const Message& message, std::string& out) {
  const absl::Time time = TimeOf(message);
  if (!IsInRfc3339Range(time)) {
    return absl::InvalidArgumentError("the time is outside of the years that RFC 3339 supports");
  }
  AppendJsonString(micro ? FormatMicroTimestamp(time) : FormatTimestamp(time), out);
  return absl::OkStatus();
}

void EncodeIntOrString(const Message& message, std::string& out) {
  const auto& reflection = *message.GetReflection();
  std::string scratch;
  if (reflection.GetInt64(message, &Field(message, kIntOrStringType)) == 0) {
    StrAppend(&out, reflection.GetInt32(message, &Field(message, kIntOrStringInt)));
  } else {
    AppendJsonString(StringOf(message, kIntOrStringString, scratch), out);
  }
}

void EncodeStringList(const Message& message, std::string& out) {
  const auto& reflection = *message.GetReflection();
  const FieldDescriptor& items = Value(message);
  std::string scratch;
  out += '[';
  for (int i = 0; i < reflection.FieldSize(message, &items); ++i) {
    if (i > 0) out += ',';
    AppendJsonString(reflection.GetRepeatedStringReference(message, &items, i, &scratch), out);
  }
  out += ']';
}

absl::Status EncodeEmbedded(const Message& message, std::string& out) {
  std::string scratch;
  const std::string_view bytes = StringOf(message, 1, scratch);
  // The self-described CBOR tag (RFC 8949, 3.4.6): a server stores CBOR behind a feature gate.
  if (bytes.starts_with("\xD9\xD9\xF7")) {
    return absl::UnimplementedError("the embedded value is CBOR, which is not supported");
  }
  const absl::Status status = AppendCompactJson(bytes, out);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      StrCat("the embedded value is not valid JSON: ", AsStd(status.message())));
}

}  // namespace

JsonHook HookOf(const Descriptor& message) {
  static const auto& hooks = *new std::unordered_map<std::string_view, JsonHook>({
      {"k8s.io.apimachinery.pkg.apis.meta.v1.Time", JsonHook::kTime},
      {"k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime", JsonHook::kMicroTime},
      {"k8s.io.apimachinery.pkg.apis.meta.v1.Duration", JsonHook::kDuration},
      {"k8s.io.apimachinery.pkg.api.resource.Quantity", JsonHook::kQuantity},
      {"k8s.io.apimachinery.pkg.api.resource.QuantityValue", JsonHook::kQuantity},
      {"k8s.io.apimachinery.pkg.util.intstr.IntOrString", JsonHook::kIntOrString},
      {"k8s.io.apimachinery.pkg.runtime.RawExtension", JsonHook::kEmbedded},
      {"k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1", JsonHook::kEmbedded},
  });
  const auto found = hooks.find(message.full_name());
  if (found != hooks.end()) return found->second;
  // Go's named slices, such as Verbs and the ExtraValue of six packages, are messages with one list
  // of strings. No other message of Kubernetes' packages has that shape.
  if (message.field_count() == 1 && std::string_view(message.full_name()).starts_with("k8s.io.")) {
    const FieldDescriptor& only = *message.field(0);
    if (only.name() == "items" && only.is_repeated() &&
        only.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      return JsonHook::kStringList;
    }
  }
  return JsonHook::kNone;
}

bool HookIsNull(JsonHook hook, const Message& message) {
  const auto& reflection = *message.GetReflection();
  std::string scratch;
  switch (hook) {
    case JsonHook::kTime:
    case JsonHook::kMicroTime:
      return !reflection.HasField(message, &Value(message)) &&
             !reflection.HasField(message, &Field(message, 2));
    case JsonHook::kEmbedded:
      return StringOf(message, 1, scratch).empty();
    default:
      return false;
  }
}

absl::Status EncodeHook(JsonHook hook, const Message& message, std::string& out) {
  const auto& reflection = *message.GetReflection();
  std::string scratch;
  if (HookIsNull(hook, message)) {
    out += "null";
    return absl::OkStatus();
  }
  switch (hook) {
    case JsonHook::kTime:
    case JsonHook::kMicroTime:
      return EncodeTime(hook == JsonHook::kMicroTime, message, out);
    case JsonHook::kDuration:
      AppendJsonString(FormatGoDuration(reflection.GetInt64(message, &Value(message))), out);
      break;
    case JsonHook::kQuantity: {
      // The zero value of Go's Quantity has an empty text here, and Go prints it as 0.
      const std::string_view text = StringOf(message, 1, scratch);
      AppendJsonString(text.empty() ? "0" : text, out);
      break;
    }
    case JsonHook::kIntOrString:
      EncodeIntOrString(message, out);
      break;
    case JsonHook::kEmbedded:
      return EncodeEmbedded(message, out);
    case JsonHook::kStringList:
      EncodeStringList(message, out);
      break;
    case JsonHook::kNone:
      return absl::InternalError("a message without a hook");
  }
  return absl::OkStatus();
}

absl::Status DecodeHook(JsonHook hook, JsonCursor& json, Message& message) {
  switch (hook) {
    case JsonHook::kTime:
      return DecodeTime(false, json, message);
    case JsonHook::kMicroTime:
      return DecodeTime(true, json, message);
    case JsonHook::kDuration:
      return DecodeDuration(json, message);
    case JsonHook::kQuantity:
      return DecodeQuantity(json, message);
    case JsonHook::kIntOrString:
      return DecodeIntOrString(json, message);
    case JsonHook::kEmbedded:
      return DecodeEmbedded(json, message);
    case JsonHook::kStringList:
      return DecodeStringList(json, message);
    case JsonHook::kNone:
      break;
  }
  return absl::InternalError("a message without a hook");
}

}  // namespace mandate
