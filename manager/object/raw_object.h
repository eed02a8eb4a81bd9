// An object as it came off the wire: what the cache stores and hands out.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/object/byte_dictionary.h"
#include "manager/object/kind.h"
#include "manager/object/object_codec.h"
#include "manager/object/object_header.h"

namespace mandate {

class JsonCursor;

// Immutable, so thread-safe; always held by shared_ptr<const RawObject>. It is one allocation,
// little larger than the bytes, which may be compressed (object_packer.h). Only the identity is
// indexed; everything else is read from the bytes on each call.
class RawObject {
  struct Identity {
    std::string_view ns;
    std::string_view name;
    std::string_view uid;
    std::string_view resource_version;
  };
  // How an object is compressed.
  struct Packing {
    std::shared_ptr<const ByteDictionary> dictionary;
    uint32_t stored_size;
    // The offset of LeadingMetadata(), and its size, which is 0 if there is none.
    uint32_t metadata_at;
    uint32_t metadata_size;
  };
  struct Content {
    std::string_view stored;  // the bytes, or what the dictionary made of them
    size_t size;              // of the bytes
    Encoding encoding;
    const Packing* packing = nullptr;  // null: not compressed
  };

 public:
  // Only functions of this room have an Identity, and so can call it.
  RawObject(char* const& room, Content content, const Identity& identity);
  ~RawObject();
  RawObject(const RawObject&) = delete;
  RawObject& operator=(const RawObject&) = delete;

  std::string_view ns() const { return At(ns_); }
  std::string_view name() const { return At(name_); }
  std::string_view uid() const { return At(uid_); }
  std::string_view resource_version() const { return At(resource_version_); }
  ObjectKey Key() const { return {std::string(ns()), std::string(name())}; }

  // Read anew on each call: keep the result, also in a range-for over one of its members.
  ObjectHeader Header() const;

  // A copy: JSON, or protobuf without its envelope. May hold secrets: never log it.
  std::string bytes() const;
  Encoding encoding() const { return encoding_; }
  // The size of bytes(), and of the same bytes as they are stored (perhaps compressed).
  size_t size() const { return size_; }
  size_t stored_size() const { return is_compressed_ ? packing().stored_size : size_; }

  template <Readable T>
  absl::StatusOr<T> Decode() const {
    absl::StatusOr<T> decoded;
    const absl::Status status =
        Read([&](std::string_view bytes) { decoded = DecodeObject<T>(bytes, encoding_); });
    if (!status.ok()) return status;
    return decoded;
  }

  // The same object, compressed with this dictionary; null if it is so already, or would not take
  // clearly less than bytes().
  std::shared_ptr<const RawObject> Compressed(
      std::shared_ptr<const ByteDictionary> dictionary) const;
  // What the object was compressed with; null if it is not compressed.
  const ByteDictionary* dictionary() const {
    return is_compressed_ ? packing().dictionary.get() : nullptr;
  }

 private:
  friend absl::StatusOr<std::shared_ptr<const RawObject>> ParseRawObject(std::string_view bytes,
                                                                         Encoding encoding);
  friend absl::StatusOr<std::shared_ptr<const RawObject>> ReadRawObject(JsonCursor& json);
  struct IdentitySink;
  static absl::StatusOr<std::shared_ptr<const RawObject>> Make(Content content,
                                                               const Identity& identity);
  // Calls `read` with the bytes, unless they cannot be decompressed (kInternal).
  absl::Status Read(absl::FunctionRef<void(std::string_view)> read) const;
  // Of a compressed object whose metadata can be read alone.
  absl::StatusOr<ObjectHeader> ReadLeadingMetadata() const;

  struct Span {
    uint32_t at = 0;
    uint32_t size = 0;
  };
  std::string_view At(Span span) const { return {room_ + span.at, span.size}; }

  // Of a compressed object.
  const Packing& packing() const { return *std::launder(reinterpret_cast<const Packing*>(room_)); }
  std::string_view stored() const {
    const size_t at = is_compressed_ ? resource_version_.at + resource_version_.size : 0;
    return {room_ + at, stored_size()};
  }

  // In the same allocation: the bytes, then the parts of the identity that are escaped in them
  // (rare). If it is compressed: the packing, the identity, which searches compare, and the
  // compressed bytes.
  const char* const room_;
  const uint32_t size_;
  const Encoding encoding_ : 31;
  const bool is_compressed_ : 1;
  Span ns_;
  Span name_;
  Span uid_;
  Span resource_version_;
};

// Copies the bytes. kInvalidArgument when they are cut short, are not of this encoding, have no
// metadata.name, or are 4 GiB or more. Protobuf may come with or without its envelope, which is
// dropped.
absl::StatusOr<std::shared_ptr<const RawObject>> ParseRawObject(std::string_view bytes,
                                                                Encoding encoding);

// The same of the cursor's next value. After an error the cursor may stand within it.
absl::StatusOr<std::shared_ptr<const RawObject>> ReadRawObject(JsonCursor& json);

}  // namespace mandate
