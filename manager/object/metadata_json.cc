#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/metadata_reader.h"

namespace mandate {
namespace {

using Token = JsonCursor::Token;

// The members that must be unique: readers disagree about which of two counts.
enum Member : unsigned {
  kMetadata = 1 << 0,
  kName = 1 << 1,
  kNamespace = 1 << 2,
  kUid = 1 << 3,
  kResourceVersion = 1 << 4,
  kLabels = 1 << 5,
  kAnnotations = 1 << 6,
  kGeneration = 1 << 7,
  kOwnerReferences = 1 << 8,
  kFinalizers = 1 << 9,
};

// Reads metadata, {…}, member by member. Null always means absence.
class Reader {
 public:
  Reader(JsonCursor& json, MetadataSink& sink) : json_(json), sink_(sink) {}

  absl::Status Object() {
    RETURN_IF_ERROR(Begin(Token::kObject, "the object"));
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      if (key != "metadata" || Null()) {
        json_.SkipValue();
        continue;
      }
      RETURN_IF_ERROR(Once(kMetadata, key));
      RETURN_IF_ERROR(Metadata());
    }
    return json_.status();
  }

 private:
  absl::Status Metadata() {
    RETURN_IF_ERROR(Begin(Token::kObject, "metadata"));
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      if (Null()) {
        json_.SkipValue();
      } else if (key == "name") {
        RETURN_IF_ERROR(Once(kName, key));
        RETURN_IF_ERROR(String(key, MetadataField::kName));
      } else if (key == "namespace") {
        RETURN_IF_ERROR(Once(kNamespace, key));
        RETURN_IF_ERROR(String(key, MetadataField::kNamespace));
      } else if (key == "uid") {
        RETURN_IF_ERROR(Once(kUid, key));
        RETURN_IF_ERROR(String(key, MetadataField::kUid));
      } else if (key == "resourceVersion") {
        RETURN_IF_ERROR(Once(kResourceVersion, key));
        RETURN_IF_ERROR(String(key, MetadataField::kResourceVersion));
      } else {
        RETURN_IF_ERROR(Detail(key));
      }
    }
    return json_.status();
  }

  absl::Status Detail(std::string_view key) {
    if (key == "labels") {
      RETURN_IF_ERROR(Once(kLabels, key));
      return Map(key, [this](auto k, auto v) { sink_.OnLabel(k, v); });
    }
    if (key == "annotations") {
      RETURN_IF_ERROR(Once(kAnnotations, key));
      return Map(key, [this](auto k, auto v) { sink_.OnAnnotation(k, v); });
    }
    if (key == "generation") {
      RETURN_IF_ERROR(Once(kGeneration, key));
      return Generation();
    }
    if (key == "ownerReferences") {
      RETURN_IF_ERROR(Once(kOwnerReferences, key));
      return Owners();
    }
    if (key == "finalizers") {
      RETURN_IF_ERROR(Once(kFinalizers, key));
      return Finalizers();
    }
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

  absl::Status Once(Member member, std::string_view key) {
    if ((seen_ & member) == 0) {
      seen_ |= member;
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        StrCat(member == kMetadata ? "" : "metadata.", key, ": duplicate field"));
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
  unsigned seen_ = 0;
};

}  // namespace

absl::Status ReadMetadataJson(JsonCursor& json, MetadataSink& sink) {
  return Reader(json, sink).Object();
}

}  // namespace mandate
