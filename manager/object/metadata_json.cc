#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/metadata_reader.h"

namespace mandate {
namespace {

using Token = JsonCursor::Token;

// The members of metadata that must be unique: readers disagree about which of two counts.
constexpr std::string_view kUnique[] = {"name",      "namespace",   "uid",        "resourceVersion",
                                        "labels",    "annotations", "generation", "ownerReferences",
                                        "finalizers"};

// Reads metadata, {…}, member by member. Null always means absence.
class Reader {
 public:
  Reader(JsonCursor& json, MetadataSink& sink) : json_(json), sink_(sink) {}

  absl::Status Object() {
    RETURN_IF_ERROR(Begin(Token::kObject, "the object"));
    bool found = false;
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      if (key != "metadata" || Null()) {
        json_.SkipValue();
        continue;
      }
      if (std::exchange(found, true)) return Duplicate(key);
      RETURN_IF_ERROR(Metadata());
    }
    return json_.status();
  }

 private:
  absl::Status Metadata() {
    RETURN_IF_ERROR(Begin(Token::kObject, "metadata"));
    unsigned seen = 0;  // of kUnique
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      if (Null()) {
        json_.SkipValue();
        continue;
      }
      const auto* const unique = std::ranges::find(kUnique, key);
      const unsigned bit = 1u << (unique - std::begin(kUnique));
      if (unique != std::end(kUnique) && (std::exchange(seen, seen | bit) & bit) != 0) {
        return Duplicate("metadata.", key);
      }
      RETURN_IF_ERROR(Member(key));
    }
    return json_.status();
  }

  absl::Status Member(std::string_view key) {
    if (key == "name") return String(key, MetadataField::kName);
    if (key == "namespace") return String(key, MetadataField::kNamespace);
    if (key == "uid") return String(key, MetadataField::kUid);
    if (key == "resourceVersion") return String(key, MetadataField::kResourceVersion);
    if (key == "labels") return Map(key, [this](auto k, auto v) { sink_.OnLabel(k, v); });
    if (key == "annotations") return Map(key, [this](auto k, auto v) { sink_.OnAnnotation(k, v); });
    if (key == "generation") return Generation();
    if (key == "ownerReferences") return Owners();
    if (key == "finalizers") return Finalizers();
    if (key == "deletionTimestamp") sink_.OnDeleting();
    json_.SkipValue();
    return json_.status();
  }

  absl::Status Generation() {
    RETURN_IF_ERROR(Begin(Token::kNumber, "metadata.generation"));
    std::string_view literal;
    if (!json_.ReadNumber(&literal)) return json_.status();
    int64_t value = 0;
    if (!absl::SimpleAtoi(AsAbsl(literal), &value)) {
      return absl::InvalidArgumentError(
          StrCat("metadata.generation: expected an integer, got ", literal));
    }
    sink_.OnGeneration(value);
    return absl::OkStatus();
  }

  template <class Entry>
  absl::Status Map(std::string_view name, const Entry& entry) {
    RETURN_IF_ERROR(Begin(Token::kObject, "metadata.", name));
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      std::string_view value;
      if (Null()) {
        json_.ReadNull();
      } else {
        RETURN_IF_ERROR(Begin(Token::kString, "metadata.", name, "[", key, "]"));
        json_.ReadString(&value);
      }
      entry(key, value);
    }
    return json_.status();
  }

  absl::Status Owners() {
    RETURN_IF_ERROR(Begin(Token::kArray, "metadata.ownerReferences"));
    for (json_.BeginArray(); json_.NextElement();) RETURN_IF_ERROR(Owner());
    return json_.status();
  }

  absl::Status Owner() {
    RETURN_IF_ERROR(Begin(Token::kObject, "metadata.ownerReferences[]"));
    OwnerView owner;
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      std::string_view* target = key == "apiVersion" ? &owner.api_version
                                 : key == "kind"     ? &owner.kind
                                 : key == "name"     ? &owner.name
                                 : key == "uid"      ? &owner.uid
                                                     : nullptr;
      if (target != nullptr && !Null()) {
        RETURN_IF_ERROR(Begin(Token::kString, "metadata.ownerReferences[].", key));
        json_.ReadString(target);
      } else if (key == "controller" && json_.Peek() == Token::kBool) {
        json_.ReadBool(&owner.controller);
      } else {
        json_.SkipValue();
      }
    }
    RETURN_IF_ERROR(json_.status());
    sink_.OnOwner(owner);
    return absl::OkStatus();
  }

  absl::Status Finalizers() {
    RETURN_IF_ERROR(Begin(Token::kArray, "metadata.finalizers"));
    for (json_.BeginArray(); json_.NextElement();) {
      RETURN_IF_ERROR(String("finalizers[]", MetadataField::kFinalizer));
    }
    return json_.status();
  }

  absl::Status String(std::string_view name, MetadataField field) {
    RETURN_IF_ERROR(Begin(Token::kString, "metadata.", name));
    std::string_view value;
    if (!json_.ReadString(&value)) return json_.status();
    sink_.OnString(field, value);
    return absl::OkStatus();
  }

  template <class... Path>
  static absl::Status Duplicate(const Path&... path) {
    return absl::InvalidArgumentError(StrCat(path..., ": duplicate field"));
  }

  bool Null() { return json_.Peek() == Token::kNull; }

  // The parts of the path, which are joined only for an error message.
  template <class... Path>
  absl::Status Begin(Token token, const Path&... path) {
    const Token found = json_.Peek();
    if (found == token) return absl::OkStatus();
    if (found == Token::kInvalid) {
      json_.SkipValue();
      return json_.status();
    }
    return absl::InvalidArgumentError(StrCat(path..., ": expected ", JsonCursor::Describe(token),
                                             ", got ", JsonCursor::Describe(found)));
  }

  JsonCursor& json_;
  MetadataSink& sink_;
};

}  // namespace

absl::Status ReadMetadataJson(JsonCursor& json, MetadataSink& sink) {
  return Reader(json, sink).Object();
}

}  // namespace mandate
