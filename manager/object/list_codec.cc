#include "manager/object/list_codec.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

using Token = JsonCursor::Token;

// Fields of every list message, and of meta/v1 ListMeta.
constexpr uint32_t kMetadata = 1;
constexpr uint32_t kItems = 2;
constexpr uint32_t kResourceVersion = 2;
constexpr uint32_t kContinue = 3;
constexpr uint32_t kRemaining = 4;

void AddItem(absl::StatusOr<std::shared_ptr<const RawObject>> item, RawList* list) {
  if (item.ok()) {
    list->items.push_back(*std::move(item));
    return;
  }
  const size_t index = list->items.size() + list->undecodable.size();
  list->undecodable.push_back(
      absl::Status(item.status().code(), StrCat("items[", index, "]: ", item.status().message())));
}

absl::Status CheckKind(std::string_view kind) {
  if (kind.empty() || kind.ends_with("List")) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("expected a list, got a ", kind));
}

// Reads a JSON list.
class JsonListReader {
 public:
  JsonListReader(std::string_view body, const JsonLimits& limits, RawList* list)
      : json_(body, limits), list_(list) {}

  absl::Status Read() {
    RETURN_IF_ERROR(Expect(Token::kObject, "the list"));
    bool any = false;
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      const bool null = json_.Peek() == Token::kNull;
      if (key == "items") any = true;
      if (null) {
        json_.ReadNull();
      } else if (key == "items") {
        RETURN_IF_ERROR(Items());
      } else if (key == "metadata") {
        RETURN_IF_ERROR(Metadata());
      } else if (key == "kind") {
        RETURN_IF_ERROR(Expect(Token::kString, "kind"));
        std::string_view kind;
        json_.ReadString(&kind);
        RETURN_IF_ERROR(CheckKind(kind));
      } else {
        json_.SkipValue();
      }
    }
    RETURN_IF_ERROR(json_.Finish());
    return any ? absl::OkStatus() : absl::InvalidArgumentError("items: missing; this is no list");
  }

 private:
  absl::Status Expect(Token token, std::string_view path) {
    const Token found = json_.Peek();
    if (found == token) return absl::OkStatus();
    if (found == Token::kInvalid) {
      json_.SkipValue();
      return json_.status();
    }
    return absl::InvalidArgumentError(StrCat(path, ": expected ", JsonCursor::Describe(token),
                                             ", got ", JsonCursor::Describe(found)));
  }

  absl::Status Items() {
    RETURN_IF_ERROR(Expect(Token::kArray, "items"));
    for (json_.BeginArray(); json_.NextElement();) {
      const JsonCursor::Place start = json_.Mark();
      auto item = ReadRawObject(json_);
      // Malformed text is the whole list's error, a malformed object its own.
      if (!json_.status().ok()) break;
      if (!item.ok()) {
        json_.GoBack(start);
        json_.SkipValue();
      }
      AddItem(std::move(item), list_);
    }
    return json_.status();
  }

  absl::Status Metadata() {
    RETURN_IF_ERROR(Expect(Token::kObject, "metadata"));
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      std::string_view value;
      if (json_.Peek() == Token::kNull) {
        json_.ReadNull();
      } else if (key == "resourceVersion" || key == "continue") {
        RETURN_IF_ERROR(Expect(Token::kString, StrCat("metadata.", key)));
        json_.ReadString(&value);
        (key == "continue" ? list_->continue_token : list_->resource_version) = value;
      } else if (key == "remainingItemCount") {
        RETURN_IF_ERROR(Expect(Token::kNumber, StrCat("metadata.", key)));
        json_.ReadNumber(&value);
        // An estimate: one that cannot be read is one that is not there.
        int64_t count = 0;
        if (absl::SimpleAtoi(AsAbsl(value), &count)) list_->remaining = count;
      } else {
        json_.SkipValue();
      }
    }
    return json_.status();
  }

  JsonCursor json_;
  RawList* const list_;
};

absl::Status ReadListMeta(std::string_view bytes, RawList* list) {
  WireCursor wire(bytes);
  while (wire.Next()) {
    switch (wire.field()) {
      case kResourceVersion:
        list->resource_version = wire.bytes();
        break;
      case kContinue:
        list->continue_token = wire.bytes();
        break;
      case kRemaining:
        list->remaining = static_cast<int64_t>(wire.varint());
        break;
      default:
        break;
    }
  }
  return wire.status();
}

absl::Status ReadProtobufList(std::string_view body, RawList* list) {
  ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(body));
  RETURN_IF_ERROR(CheckKind(envelope.kind));
  WireCursor wire(envelope.raw);
  while (wire.Next()) {
    if (wire.field() == kMetadata) RETURN_IF_ERROR(ReadListMeta(wire.bytes(), list));
    if (wire.field() == kItems) AddItem(ParseRawObject(wire.bytes(), Encoding::kProtobuf), list);
  }
  return wire.status();
}

}  // namespace

absl::StatusOr<RawList> ParseList(std::string_view body, Encoding encoding,
                                  const JsonLimits& limits) {
  RawList list;
  RETURN_IF_ERROR(encoding == Encoding::kJson ? JsonListReader(body, limits, &list).Read()
                                              : ReadProtobufList(body, &list));
  return list;
}

}  // namespace mandate
