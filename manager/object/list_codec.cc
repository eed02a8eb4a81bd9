#include "manager/object/list_codec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

using Token = JsonCursor::Token;

// Fields of runtime.Unknown, of every list message, and of meta/v1 ListMeta.
constexpr uint64_t kRawTag = 2 << 3 | 2;
constexpr uint32_t kMetadata = 1;
constexpr uint32_t kItems = 2;
constexpr uint32_t kResourceVersion = 2;
constexpr uint32_t kContinue = 3;
constexpr uint32_t kRemaining = 4;

using Item = std::shared_ptr<const RawObject>;

// The bytes that a list puts around an item.
constexpr int kListDepth = 2;

absl::Status CheckKind(std::string_view kind) {
  if (kind.empty() || kind.ends_with("List")) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("expected a list, got a ", kind));
}

absl::Status TooLarge(size_t limit) {
  return absl::ResourceExhaustedError(StrCat(
      "an item, or the text between two items, is larger than the limit of ", limit, " bytes"));
}

}  // namespace

// Reads in steps. A step is an item or a member. If its text is not complete, it is read again when
// more has come.
class ListReader::Format {
 public:
  struct Progress {
    size_t consumed = 0;
    absl::Status status;
  };

  Format(const Options& options, RawList& list) : options_(options), list_(list) {}
  virtual ~Format() = default;

  // `text` continues where the last call stopped consuming. `last`: no text follows.
  virtual Progress Read(std::string_view text, bool last) = 0;

 protected:
  void Add(Item item) {
    list_.items.push_back(std::move(item));
    ++items_;
  }
  absl::Status BadItem(const absl::Status& why) const {
    return absl::Status(why.code(), StrCat("items[", items_, "]: ", why.message()));
  }

  const Options& options_;
  RawList& list_;

 private:
  size_t items_ = 0;  // also those that were taken
};

class ListReader::JsonFormat : public Format {
 public:
  using Format::Format;

  Progress Read(std::string_view text, bool last) override {
    JsonLimits limits = options_.json;
    limits.max_depth += kListDepth;
    JsonCursor json(text, limits, {.at = 0, .depth = place_.depth, .first = place_.first});
    place_ = json.Mark();
    while (state_ != State::kEnd || json.Offset() < text.size()) {
      next_ = state_;
      item_ = nullptr;
      absl::Status status = Step(json);
      // At the end of the text an error and a success may both be wrong, because more text may
      // follow.
      const bool open = !json.status().ok() || json.Consumed() == text.size();
      if (open && !last) return {place_.at, absl::OkStatus()};
      if (!status.ok()) return {place_.at, std::move(status)};
      if (json.Consumed() - place_.at > options_.max_item_bytes) {
        return {place_.at, TooLarge(options_.max_item_bytes)};
      }
      if (item_ != nullptr) Add(std::move(item_));
      state_ = next_;
      place_ = json.Mark();
    }
    if (last && !any_) {
      return {place_.at, absl::InvalidArgumentError("items: missing; this is not a list")};
    }
    return {text.size(), absl::OkStatus()};
  }

 private:
  enum class State { kStart, kMembers, kItems, kEnd };

  // Sets next_, and also item_ if it has read an item. It may run again from the same place.
  absl::Status Step(JsonCursor& json) {
    switch (state_) {
      case State::kStart:
        RETURN_IF_ERROR(Expect(json, Token::kObject, "the list"));
        json.BeginObject();
        next_ = State::kMembers;
        return json.status();
      case State::kMembers:
        return Member(json);
      case State::kItems:
        if (!json.NextElement()) {
          next_ = State::kMembers;
        } else if (auto item = ReadRawObject(json); item.ok()) {
          item_ = *std::move(item);
        } else if (json.status().ok()) {
          return BadItem(item.status());
        }
        return json.status();
      case State::kEnd:
        return json.Finish();
    }
    return absl::OkStatus();
  }

  absl::Status Member(JsonCursor& json) {
    std::string_view key;
    if (!json.NextMember(&key)) {
      next_ = State::kEnd;
      return json.status();
    }
    const bool null = json.Peek() == Token::kNull;
    if (key == "items") any_ = true;
    if (null) {
      json.ReadNull();
    } else if (key == "items") {
      RETURN_IF_ERROR(Expect(json, Token::kArray, "items"));
      json.BeginArray();
      next_ = State::kItems;
    } else if (key == "metadata") {
      RETURN_IF_ERROR(Metadata(json));
    } else if (key == "kind") {
      RETURN_IF_ERROR(Expect(json, Token::kString, "kind"));
      std::string_view kind;
      if (!json.ReadString(&kind)) return json.status();
      RETURN_IF_ERROR(CheckKind(kind));
    } else {
      json.SkipValue();
    }
    return json.status();
  }

  static absl::Status Expect(JsonCursor& json, Token token, std::string_view path) {
    const Token found = json.Peek();
    if (found == token) return absl::OkStatus();
    if (found == Token::kInvalid) {
      json.SkipValue();
      return json.status();
    }
    return absl::InvalidArgumentError(StrCat(path, ": expected ", JsonCursor::Describe(token),
                                             ", got ", JsonCursor::Describe(found)));
  }

  absl::Status Metadata(JsonCursor& json) {
    RETURN_IF_ERROR(Expect(json, Token::kObject, "metadata"));
    std::string_view key;
    for (json.BeginObject(); json.NextMember(&key);) {
      std::string_view value;
      if (json.Peek() == Token::kNull) {
        json.ReadNull();
      } else if (key == "resourceVersion" || key == "continue") {
        RETURN_IF_ERROR(Expect(json, Token::kString, StrCat("metadata.", key)));
        json.ReadString(&value);
        (key == "continue" ? list_.continue_token : list_.resource_version) = value;
      } else if (key == "remainingItemCount") {
        RETURN_IF_ERROR(Expect(json, Token::kNumber, StrCat("metadata.", key)));
        json.ReadNumber(&value);
        // The count is an estimate, so an invalid one is ignored.
        int64_t count = 0;
        if (absl::SimpleAtoi(AsAbsl(value), &count)) list_.remaining = count;
      } else {
        json.SkipValue();
      }
    }
    return json.status();
  }

  State state_ = State::kStart;
  State next_ = State::kStart;
  Item item_;
  JsonCursor::Place place_;
  bool any_ = false;  // the list has the member `items`
};

// Reads the envelope's fields. One of them is the list, and the items are fields of the list.
class ListReader::ProtobufFormat : public Format {
 public:
  using Format::Format;

  Progress Read(std::string_view text, bool last) override {
    size_t at = 0;
    absl::Status status;
    while (at < text.size() && status.ok()) {
      const size_t size = Step(text.substr(at), &status);
      if (size == 0) break;
      if (size > options_.max_item_bytes) status = TooLarge(options_.max_item_bytes);
      at += size;
    }
    if (last && status.ok()) status = CheckEnd(at == text.size());
    return {at, std::move(status)};
  }

 private:
  // Returns the number of bytes read; 0 when more bytes are needed.
  size_t Step(std::string_view rest, absl::Status* status) {
    if (in_list_) {
      WireCursor wire(rest.substr(0, list_left_));
      if (!wire.Next()) {
        if (rest.size() >= list_left_) *status = wire.status();
        return 0;
      }
      const size_t size = std::min(rest.size(), list_left_) - wire.left();
      if (wire.field() == kMetadata) *status = ReadListMeta(wire.bytes());
      if (wire.field() == kItems) *status = AddItem(wire.bytes());
      list_left_ -= size;
      in_list_ = list_left_ > 0;
      return size;
    }
    if (envelope_.empty()) return Magic(rest, status);
    std::string_view head = rest;
    uint64_t tag = 0;
    uint64_t length = 0;
    if (!ReadWireVarint(head, &tag)) return 0;
    if (tag == kRawTag) {
      if (!ReadWireVarint(head, &length)) return 0;
      if (std::exchange(has_list_, true)) {
        *status = absl::InvalidArgumentError("the envelope has two values");
      }
      list_left_ = length;
      in_list_ = length > 0;
      return rest.size() - head.size();
    }
    WireCursor wire(rest);
    if (!wire.Next()) return 0;
    const size_t size = rest.size() - wire.left();
    envelope_ += rest.substr(0, size);
    return size;
  }

  absl::Status AddItem(std::string_view bytes) {
    auto item = ParseRawObject(bytes, Encoding::kProtobuf);
    if (!item.ok()) return BadItem(item.status());
    Add(*std::move(item));
    return absl::OkStatus();
  }

  size_t Magic(std::string_view rest, absl::Status* status) {
    if (rest.size() < kMagicBytes) return 0;
    if (!HasEnvelope(rest)) {
      *status = ParseEnvelope(rest).status();
      return 0;
    }
    envelope_ = rest.substr(0, kMagicBytes);
    return kMagicBytes;
  }

  absl::Status ReadListMeta(std::string_view bytes) {
    WireCursor wire(bytes);
    while (wire.Next()) {
      switch (wire.field()) {
        case kResourceVersion:
          list_.resource_version = wire.bytes();
          break;
        case kContinue:
          list_.continue_token = wire.bytes();
          break;
        case kRemaining:
          list_.remaining = static_cast<int64_t>(wire.varint());
          break;
        default:
          break;
      }
    }
    return wire.status();
  }

  absl::Status CheckEnd(bool whole) const {
    if (!whole || in_list_) {
      return absl::InvalidArgumentError("malformed or truncated protobuf");
    }
    ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(envelope_));
    RETURN_IF_ERROR(CheckKind(envelope.kind));
    // A server writes an empty list, too. A body without a list is truncated.
    return has_list_ ? absl::OkStatus()
                     : absl::InvalidArgumentError("the envelope is empty; this is not a list");
  }

  static constexpr size_t kMagicBytes = 4;
  std::string envelope_;  // without the list
  bool has_list_ = false;
  bool in_list_ = false;
  size_t list_left_ = 0;
};

ListReader::ListReader(Encoding encoding, const Options& options) : options_(options) {
  if (encoding == Encoding::kJson) {
    format_ = std::make_unique<JsonFormat>(options_, list_);
  } else {
    format_ = std::make_unique<ProtobufFormat>(options_, list_);
  }
}

ListReader::~ListReader() = default;

absl::Status ListReader::Feed(std::string_view bytes) { return Read(bytes, /*last=*/false); }

absl::Status ListReader::Read(std::string_view bytes, bool last) {
  RETURN_IF_ERROR(status_);
  const size_t before = bytes_ - pending_.size();
  bytes_ += bytes.size();
  const bool copied = !pending_.empty();
  if (copied) pending_ += bytes;
  const std::string_view text = copied ? pending_ : bytes;
  if (!last && text.size() < look_at_) return absl::OkStatus();
  const Format::Progress progress = format_->Read(text, last);
  if (!progress.status.ok()) {
    return status_ = before == 0
                         ? progress.status
                         : absl::Status(progress.status.code(),
                                        StrCat("after ", before,
                                               " bytes of the list: ", progress.status.message()));
  }
  const size_t left = text.size() - progress.consumed;
  if (left > options_.max_item_bytes) return status_ = TooLarge(options_.max_item_bytes);
  look_at_ = std::min(2 * left, options_.max_item_bytes);
  if (copied) {
    pending_.erase(0, progress.consumed);
  } else {
    pending_ = text.substr(progress.consumed);
  }
  return absl::OkStatus();
}

absl::StatusOr<RawList> ListReader::Finish() && {
  RETURN_IF_ERROR(Read("", /*last=*/true));
  return std::move(list_);
}

absl::StatusOr<RawList> ParseList(std::string_view body, Encoding encoding,
                                  const JsonLimits& limits) {
  ListReader reader(encoding, {.json = limits});
  RETURN_IF_ERROR(reader.Read(body, /*last=*/true));
  return std::move(reader.list_);
}

}  // namespace mandate
