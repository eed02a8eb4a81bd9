#include "webhooks/scope/maxima.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "api/mandate/options.pb.h"
#include "google/protobuf/descriptor.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_cursor.h"

namespace mandate::scope {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// In characters, as the API server counts them: bytes that do not continue one.
int64_t LengthOf(std::string_view utf8) {
  return std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; });
}

absl::Status TooLarge(std::string_view path, int64_t size, std::string_view what, int64_t maximum) {
  return absl::InvalidArgumentError(
      StrCat(path, ": ", size, " ", what, "; the limit is ", maximum));
}

absl::Status CheckText(const api::Schema& schema, const std::string& text, std::string_view path) {
  if (!schema.has_maxlength() || LengthOf(text) <= schema.maxlength()) return absl::OkStatus();
  return TooLarge(path, LengthOf(text), "characters", schema.maxlength());
}

// More than the four levels of a valid selector.
constexpr int kMaxSelectorDepth = 8;
constexpr int64_t kMaxSelectorParts = 1000;

// Adds the members and items of the next value, and those below it. Stops at the first error.
void CountParts(JsonCursor& json, int64_t& parts) {
  std::string_view key;
  switch (json.Peek()) {
    case JsonCursor::Token::kObject:
      for (json.BeginObject(); json.NextMember(&key); ++parts) CountParts(json, parts);
      break;
    case JsonCursor::Token::kArray:
      for (json.BeginArray(); json.NextElement(); ++parts) CountParts(json, parts);
      break;
    default:
      json.SkipValue();
  }
}

// The field has a value.
absl::Status CheckField(const Message& message, const FieldDescriptor& field,
                        const std::string& path) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const api::Schema& schema = field.options().GetExtension(api::schema);
  const bool is_text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (!field.is_repeated()) {
    if (is_message) return CheckMaxima(reflection.GetMessage(message, &field), path);
    if (is_text) return CheckText(schema, reflection.GetString(message, &field), path);
    return absl::OkStatus();
  }
  const int size = reflection.FieldSize(message, &field);
  if (schema.has_maxitems() && size > schema.maxitems()) {
    return TooLarge(path, size, "items", schema.maxitems());
  }
  for (int i = 0; i < size && (is_message || schema.items().has_maxlength()); ++i) {
    const std::string item = StrCat(path, "[", i, "]");
    if (is_message) {
      RETURN_IF_ERROR(CheckMaxima(reflection.GetRepeatedMessage(message, &field, i), item));
    } else if (is_text) {
      RETURN_IF_ERROR(
          CheckText(schema.items(), reflection.GetRepeatedString(message, &field, i), item));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSelector(std::string_view json, std::string_view path) {
  if (json.empty()) return absl::OkStatus();
  int64_t parts = 0;
  JsonCursor cursor(json, {.max_depth = kMaxSelectorDepth});
  CountParts(cursor, parts);
  if (parts > kMaxSelectorParts) {
    return TooLarge(path, parts, "labels, requirements and values", kMaxSelectorParts);
  }
  const absl::Status status = cursor.Finish();
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(path, ": ", AsStd(status.message())));
}

absl::Status CheckMaxima(const Message& message, std::string_view path) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    RETURN_IF_ERROR(CheckField(message, *field, StrCat(path, ".", field->json_name())));
  }
  return absl::OkStatus();
}

}  // namespace mandate::scope
