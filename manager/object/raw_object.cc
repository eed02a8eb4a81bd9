#include "manager/object/raw_object.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "manager/core/scratch.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json_cursor.h"
#include "manager/object/metadata_reader.h"

namespace mandate {
namespace {

// Makes each allocation longer, and reports where the additional room begins.
template <class T>
struct RoomyAllocator {
  using value_type = T;

  RoomyAllocator(size_t extra, char** room) : extra(extra), room(room) {}
  template <class U>
  RoomyAllocator(const RoomyAllocator<U>& other) : extra(other.extra), room(other.room) {}

  T* allocate(size_t count) {
    char* const start = static_cast<char*>(::operator new(count * sizeof(T) + extra));
    *room = start + count * sizeof(T);
    return reinterpret_cast<T*>(start);
  }
  void deallocate(T* start, size_t) { ::operator delete(start); }
  bool operator==(const RoomyAllocator&) const = default;

  size_t extra;
  char** room;  // valid only during the allocation
};

bool IsWithin(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace

// Reads only the metadata that identify the object.
struct RawObject::IdentitySink final : MetadataSink {
  void OnString(MetadataField field, std::string_view value) override {
    switch (field) {
      case MetadataField::kNamespace:
        identity.ns = value;
        break;
      case MetadataField::kName:
        identity.name = value;
        break;
      case MetadataField::kUid:
        identity.uid = value;
        break;
      case MetadataField::kResourceVersion:
        identity.resource_version = value;
        break;
      case MetadataField::kFinalizer:
        break;
    }
  }

  Identity identity;
};

RawObject::RawObject(char* const& room, Content content, const Identity& identity)
    : room_(room),
      size_(static_cast<uint32_t>(content.size)),
      encoding_(content.encoding),
      is_compressed_(content.dictionary != nullptr) {
  const std::string_view stored = content.stored;
  uint32_t end = 0;
  if (is_compressed_) {
    new (room) Dictionary(std::move(content.dictionary));
    end = sizeof(Dictionary);
  }
  std::memcpy(room + end, stored.data(), stored.size());
  end += static_cast<uint32_t>(stored.size());
  const auto place = [&](std::string_view part) -> Span {
    const auto size = static_cast<uint32_t>(part.size());
    const bool shown = !is_compressed_ && IsWithin(part, stored);
    if (shown) return {static_cast<uint32_t>(part.data() - stored.data()), size};
    if (size > 0) std::memcpy(room + end, part.data(), size);
    end += size;
    return {end - size, size};
  };
  ns_ = place(identity.ns);
  name_ = place(identity.name);
  uid_ = place(identity.uid);
  resource_version_ = place(identity.resource_version);
}

RawObject::~RawObject() {
  if (is_compressed_) dictionary().~Dictionary();
}

absl::StatusOr<std::shared_ptr<const RawObject>> RawObject::Make(Content content,
                                                                 const Identity& identity) {
  if (identity.name.empty()) {
    return absl::InvalidArgumentError("metadata.name: missing; this is not a Kubernetes object");
  }
  const bool compressed = content.dictionary != nullptr;
  size_t size = (compressed ? sizeof(Dictionary) : 0) + content.stored.size();
  for (std::string_view part :
       {identity.ns, identity.name, identity.uid, identity.resource_version}) {
    if (compressed || !IsWithin(part, content.stored)) size += part.size();
  }
  if (size > UINT32_MAX) {
    return absl::InvalidArgumentError(StrCat("an object of ", size, " bytes is too large"));
  }
  char* room = nullptr;
  return std::allocate_shared<RawObject>(RoomyAllocator<RawObject>(size, &room), room,
                                         std::move(content), identity);
}

std::shared_ptr<const RawObject> RawObject::Compressed(Dictionary dictionary) const {
  if (is_compressed_) return nullptr;
  std::shared_ptr<const RawObject> made;
  dictionary->Compress(stored(), [&](std::string_view compressed) {
    const size_t identity = ns_.size + name_.size + uid_.size + resource_version_.size;
    if (sizeof(Dictionary) + compressed.size() + identity > size_ / 4 * 3) return;
    made = *Make({compressed, size_, encoding_, dictionary},
                 {ns(), name(), uid(), resource_version()});
  });
  return made;
}

absl::Status RawObject::Read(absl::FunctionRef<void(std::string_view)> read) const {
  if (!is_compressed_) {
    read(stored());
    return absl::OkStatus();
  }
  Scratch bytes(size_);
  RETURN_IF_ERROR(dictionary()->Decompress(stored(), bytes.data(), bytes.size()));
  read({bytes.data(), bytes.size()});
  return absl::OkStatus();
}

std::string RawObject::bytes() const {
  std::string copy;
  Read([&](std::string_view bytes) { copy = bytes; }).IgnoreError();  // it was written by this
  return copy;
}

ObjectHeader RawObject::Header() const {
  absl::StatusOr<ObjectHeader> header;
  Read([&](std::string_view bytes) { header = ParseObjectHeader(bytes, encoding_); }).IgnoreError();
  // This cannot fail, because the identity was read from the same bytes with the same rules.
  return *std::move(header);
}

absl::StatusOr<std::shared_ptr<const RawObject>> ParseRawObject(std::string_view bytes,
                                                                Encoding encoding) {
  if (encoding == Encoding::kJson) {
    JsonCursor json(bytes);
    ASSIGN_OR_RETURN(auto object, ReadRawObject(json));
    RETURN_IF_ERROR(json.Finish());
    return object;
  }
  if (HasEnvelope(bytes)) {
    ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(bytes));
    bytes = envelope.raw;
  }
  RawObject::IdentitySink sink;
  RETURN_IF_ERROR(ReadMetadataProtobuf(bytes, sink));
  return RawObject::Make({bytes, bytes.size(), encoding}, sink.identity);
}

absl::StatusOr<std::shared_ptr<const RawObject>> ReadRawObject(JsonCursor& json) {
  const size_t start = json.Offset();
  RawObject::IdentitySink sink;
  RETURN_IF_ERROR(ReadMetadataJson(json, sink));
  const std::string_view text = json.TextSince(start);
  return RawObject::Make({text, text.size(), Encoding::kJson}, sink.identity);
}

}  // namespace mandate
