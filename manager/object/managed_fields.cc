#include "manager/object/managed_fields.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/object/json_cursor.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

// Every object has its ObjectMeta in field 1.
constexpr uint32_t kMetadata = 1;
// Of meta/v1 ObjectMeta.
constexpr uint32_t kManagedFields = 17;

// Calls `visit` with each field: the cursor, and the field's bytes with its tag.
template <class Visit>
void ForEachField(std::string_view message, const Visit& visit) {
  WireCursor wire(message);
  for (size_t at = 0; wire.Next();) {
    const size_t end = message.size() - wire.left();
    visit(wire, message.substr(at, end - at));
    at = end;
  }
}

std::string WithoutInProtobuf(std::string_view message) {
  std::string result;
  result.reserve(message.size());
  ForEachField(message, [&](const WireCursor& wire, std::string_view field) {
    if (wire.field() != kMetadata || !wire.has_bytes()) {
      result += field;
      return;
    }
    std::string metadata;
    ForEachField(wire.bytes(), [&](const WireCursor& of, std::string_view part) {
      if (of.field() != kManagedFields) metadata += part;
    });
    AppendWireBytes(kMetadata, metadata, result);
  });
  return result;
}

// A member of an object, with what precedes it after the last one: a comma, unless it is the first.
struct Member {
  std::string_view key;
  size_t begin;
  size_t end;
};

// The cursor is before an object.
std::vector<Member> ReadMembers(JsonCursor& json) {
  std::vector<Member> members;
  std::string_view key;
  for (json.BeginObject();;) {
    const size_t begin = json.Consumed();
    if (!json.NextMember(&key)) return members;
    json.SkipValue();
    members.push_back({key, begin, json.Consumed()});
  }
}

// `metadata` is the text of an object.
std::string WithoutInMetadata(std::string_view metadata) {
  JsonCursor json(metadata);
  std::string result = "{";
  for (const Member& member : ReadMembers(json)) {
    if (member.key == "managedFields") continue;
    std::string_view text = metadata.substr(member.begin, member.end - member.begin);
    // The members that precede it may be gone.
    if (result.size() == 1) text.remove_prefix(text.find('"'));
    result += text;
  }
  return result + "}";
}

std::string WithoutInJson(std::string_view object) {
  JsonCursor json(object);
  std::string_view key;
  for (json.BeginObject(); json.NextMember(&key);) {
    const bool is_metadata = key == "metadata";
    const size_t begin = json.Offset();
    json.SkipValue();
    if (!is_metadata) continue;
    return std::string(object.substr(0, begin)) + WithoutInMetadata(json.TextSince(begin)) +
           std::string(object.substr(json.Consumed()));
  }
  return std::string(object);
}

}  // namespace

std::shared_ptr<const RawObject> WithoutManagedFields(std::shared_ptr<const RawObject> object) {
  const std::string bytes = object->bytes();
  const std::string less =
      object->encoding() == Encoding::kJson ? WithoutInJson(bytes) : WithoutInProtobuf(bytes);
  if (less.size() >= bytes.size()) return object;
  auto parsed = ParseRawObject(less, object->encoding());
  return parsed.ok() ? *std::move(parsed) : std::move(object);  // it was an object before
}

}  // namespace mandate
