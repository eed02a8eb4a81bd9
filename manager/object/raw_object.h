// An object as it came off the wire: what the cache stores and hands out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/object/kind.h"
#include "manager/object/object_codec.h"
#include "manager/object/object_header.h"

namespace mandate {

class JsonCursor;

// Immutable, so thread-safe; always held by shared_ptr<const RawObject>. It is one allocation,
// little larger than the bytes. Only the identity is indexed; everything else is read from the
// bytes on each call.
class RawObject {
  struct Identity {
    std::string_view ns;
    std::string_view name;
    std::string_view uid;
    std::string_view resource_version;
  };

 public:
  // Only ParseRawObject and ReadRawObject have an Identity, and so can call it.
  RawObject(char* const& room, std::string_view bytes, Encoding encoding, const Identity& identity);
  RawObject(const RawObject&) = delete;
  RawObject& operator=(const RawObject&) = delete;

  std::string_view ns() const { return At(ns_); }
  std::string_view name() const { return At(name_); }
  std::string_view uid() const { return At(uid_); }
  std::string_view resource_version() const { return At(resource_version_); }
  ObjectKey Key() const { return {std::string(ns()), std::string(name())}; }

  // Read anew on each call: keep the result, also in a range-for over one of its members.
  ObjectHeader Header() const;

  // JSON, or protobuf without its envelope. May hold secrets: never log it.
  std::string_view bytes() const { return {room_, size_}; }
  Encoding encoding() const { return encoding_; }

  template <Object T>
  absl::StatusOr<T> Decode() const {
    return DecodeObject<T>(bytes(), encoding_);
  }

 private:
  friend absl::StatusOr<std::shared_ptr<const RawObject>> ParseRawObject(std::string_view bytes,
                                                                         Encoding encoding);
  friend absl::StatusOr<std::shared_ptr<const RawObject>> ReadRawObject(JsonCursor& json);
  struct IdentitySink;
  static absl::StatusOr<std::shared_ptr<const RawObject>> Make(std::string_view bytes,
                                                               Encoding encoding,
                                                               const Identity& identity);

  struct Span {
    uint32_t at = 0;
    uint32_t size = 0;
  };
  std::string_view At(Span span) const { return {room_ + span.at, span.size}; }

  // In the same allocation: the bytes, then the parts of the identity that are escaped in them
  // (rare).
  const char* const room_;
  const uint32_t size_;
  const Encoding encoding_;
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
