#include "manager/object/raw_object.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "manager/core/heap_growth.h"
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
      is_compressed_(content.packing != nullptr) {
  const std::string_view stored = content.stored;
  uint32_t end = 0;
  const auto append = [&](std::string_view part) -> Span {
    if (!part.empty()) std::memcpy(room + end, part.data(), part.size());
    end += static_cast<uint32_t>(part.size());
    return {end - static_cast<uint32_t>(part.size()), static_cast<uint32_t>(part.size())};
  };
  const auto place = [&](std::string_view part) -> Span {
    if (is_compressed_ || !IsWithin(part, stored)) return append(part);
    return {static_cast<uint32_t>(part.data() - stored.data()), static_cast<uint32_t>(part.size())};
  };
  if (is_compressed_) {
    new (room) Packing(*content.packing);
    end = sizeof(Packing);
  } else {
    append(stored);
  }
  ns_ = place(identity.ns);
  name_ = place(identity.name);
  uid_ = place(identity.uid);
  resource_version_ = place(identity.resource_version);
  if (is_compressed_) append(stored);
}

RawObject::~RawObject() {
  if (is_compressed_) packing().~Packing();
}

absl::StatusOr<std::shared_ptr<const RawObject>> RawObject::Make(Content content,
                                                                 const Identity& identity) {
  if (identity.name.empty()) {
    return absl::InvalidArgumentError("metadata.name: missing; this is not a Kubernetes object");
  }
  const bool compressed = content.packing != nullptr;
  size_t size = (compressed ? sizeof(Packing) : 0) + content.stored.size();
  for (std::string_view part :
       {identity.ns, identity.name, identity.uid, identity.resource_version}) {
    if (compressed || !IsWithin(part, content.stored)) size += part.size();
  }
  if (size > UINT32_MAX) {
    return absl::InvalidArgumentError(StrCat("an object of ", size, " bytes is too large"));
  }
  GrowHeapFor(size);
  char* room = nullptr;
  return std::allocate_shared<RawObject>(RoomyAllocator<RawObject>(size, &room), room, content,
                                         identity);
}

std::shared_ptr<const RawObject> RawObject::Compressed(
    std::shared_ptr<const ByteDictionary> dictionary) const {
  if (this->dictionary() == dictionary.get() || size_ > ByteDictionary::kMaxTextBytes) {
    return nullptr;
  }
  std::shared_ptr<const RawObject> made;
  const auto compress = [&](std::string_view bytes) {
    std::string_view metadata;
    if (encoding_ == Encoding::kProtobuf) metadata = LeadingMetadata(bytes).value_or("");
    dictionary->Compress(bytes, [&](std::string_view compressed) {
      const size_t identity = ns_.size + name_.size + uid_.size + resource_version_.size;
      if (sizeof(Packing) + compressed.size() + identity > size_ / 4 * 3) return;
      Packing packing = {dictionary, static_cast<uint32_t>(compressed.size()), 0, 0};
      if (!metadata.empty()) {
        packing.metadata_at = static_cast<uint32_t>(metadata.data() - bytes.data());
        packing.metadata_size = static_cast<uint32_t>(metadata.size());
      }
      made = *Make({compressed, size_, encoding_, &packing},
                   {ns(), name(), uid(), resource_version()});
    });
  };
  Read(compress).IgnoreError();  // it was written by this
  return made;
}

absl::Status RawObject::Read(absl::FunctionRef<void(std::string_view)> read) const {
  if (!is_compressed_) {
    read(stored());
    return absl::OkStatus();
  }
  Scratch bytes(size_);
  RETURN_IF_ERROR(packing().dictionary->Decompress(stored(), bytes.data(), bytes.size()));
  read({bytes.data(), bytes.size()});
  return absl::OkStatus();
}

std::string RawObject::bytes() const {
  std::string copy;
  Read([&](std::string_view bytes) { copy = bytes; }).IgnoreError();  // it was written by this
  return copy;
}

absl::StatusOr<ObjectHeader> RawObject::ReadLeadingMetadata() const {
  const Packing& how = packing();
  Scratch bytes(how.metadata_at + how.metadata_size);
  RETURN_IF_ERROR(how.dictionary->DecompressStart(stored(), bytes.data(), bytes.size()));
  return ParseMetadataFields({bytes.data() + how.metadata_at, how.metadata_size});
}

ObjectHeader RawObject::Header() const {
  absl::StatusOr<ObjectHeader> header;
  if (is_compressed_ && packing().metadata_size > 0) {
    header = ReadLeadingMetadata();
  } else {
    Read([&](std::string_view bytes) {
      header = ParseObjectHeader(bytes, encoding_);
    }).IgnoreError();
  }
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
