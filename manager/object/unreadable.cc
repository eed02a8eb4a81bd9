#include "manager/object/unreadable.h"

#include <utility>

#include "manager/object/envelope.h"
#include "manager/object/json_cursor.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

using Token = JsonCursor::Token;

struct Identity {
  std::string ns;
  std::string name;
  std::string resource_version;
};

// A JSON object's string members of these names; the first of each stays, a second is an error.
class Strings {
 public:
  // False when `key` is one of them, and its value is none or the second one.
  bool Read(std::string_view key, JsonCursor& json) {
    for (auto& [name, value, seen] : fields_) {
      if (key != name) continue;
      if (json.Peek() == Token::kNull) return json.ReadNull();
      std::string_view text;
      if (std::exchange(seen, true) || json.Peek() != Token::kString || !json.ReadString(&text)) {
        return false;
      }
      value = text;
      return true;
    }
    return json.SkipDeepValue();
  }

  Identity Take() && {
    return {std::move(fields_[0].value), std::move(fields_[1].value), std::move(fields_[2].value)};
  }

 private:
  struct Field {
    std::string_view name;
    std::string value;
    bool seen;
  };
  Field fields_[3] = {
      {"namespace", "", false}, {"name", "", false}, {"resourceVersion", "", false}};
};

Identity OfJson(std::string_view text) {
  JsonCursor json(text);
  Strings strings;
  bool metadata = false;
  std::string_view key;
  if (json.Peek() != Token::kObject) return {};
  for (json.BeginObject(); json.NextMember(&key);) {
    if (key != "metadata" || json.Peek() != Token::kObject) {
      json.SkipDeepValue();
      continue;
    }
    if (std::exchange(metadata, true)) return {};
    for (json.BeginObject(); json.NextMember(&key);) {
      if (!strings.Read(key, json)) return {};
    }
  }
  return json.Finish().ok() ? std::move(strings).Take() : Identity();
}

// ObjectMeta is field 1 of every object. What is malformed after it does not matter.
Identity OfProtobuf(std::string_view message) {
  constexpr uint32_t kMetadata = 1;
  constexpr uint32_t kName = 1;
  constexpr uint32_t kNamespace = 3;
  constexpr uint32_t kResourceVersion = 6;
  if (HasEnvelope(message)) {
    const auto envelope = ParseEnvelope(message);
    if (!envelope.ok()) return {};
    message = envelope->raw;
  }
  Identity identity;
  for (WireCursor wire(message); wire.Next();) {
    if (wire.field() != kMetadata || !wire.has_bytes()) continue;
    WireCursor meta(wire.bytes());
    while (meta.Next()) {
      if (!meta.has_bytes()) continue;
      if (meta.field() == kName) identity.name = meta.bytes();
      if (meta.field() == kNamespace) identity.ns = meta.bytes();
      if (meta.field() == kResourceVersion) identity.resource_version = meta.bytes();
    }
    if (!meta.status().ok()) return {};
  }
  return identity;
}

}  // namespace

UnreadableObject Identify(absl::Status why, std::string_view object, Encoding encoding) {
  Identity identity = encoding == Encoding::kJson ? OfJson(object) : OfProtobuf(object);
  return {std::move(why),
          {std::move(identity.ns), std::move(identity.name)},
          std::move(identity.resource_version)};
}

}  // namespace mandate
