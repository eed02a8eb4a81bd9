// Messages whose JSON is not an object of their fields: times, quantities, embedded JSON, ….
#pragma once

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "manager/object/json_cursor.h"

namespace mandate {

enum class JsonHook {
  kNone,         // an object of its fields
  kTime,         // RFC 3339, seconds
  kMicroTime,    // RFC 3339, six digits of a second
  kDuration,     // Go's text
  kQuantity,     // a string, checked and kept as it is; numbers are accepted
  kIntOrString,  // a number or a string
  kEmbedded,     // any JSON value: RawExtension, FieldsV1
  kStringList,   // an array of strings: ExtraValue, Verbs
};

JsonHook HookOf(const google::protobuf::Descriptor& message);

// Whether a present message means an absent value: the zero time, an empty RawExtension.
bool HookIsNull(JsonHook hook, const google::protobuf::Message& message);

// Appends the message's JSON. kInvalidArgument for embedded bytes that are not JSON.
absl::Status EncodeHook(JsonHook hook, const google::protobuf::Message& message, std::string& out);

// Reads the cursor's next value, which is not null, into the empty `message`.
absl::Status DecodeHook(JsonHook hook, JsonCursor& json, google::protobuf::Message& message);

}  // namespace mandate
