// An object as it came off the wire: what the cache stores and hands out.
#ifndef MANAGER_OBJECT_RAW_OBJECT_H_
#define MANAGER_OBJECT_RAW_OBJECT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/object/kind.h"
#include "manager/object/object_codec.h"
#include "manager/object/object_header.h"

namespace mandate {

// Immutable, so thread-safe; always held by shared_ptr<const RawObject>. Costs little more than its
// bytes: only the identity is indexed, all else is read out of the bytes when asked for.
class RawObject {
  struct Passkey {};

 public:
  RawObject(Passkey, std::string bytes, Encoding encoding);
  RawObject(const RawObject&) = delete;
  RawObject& operator=(const RawObject&) = delete;

  std::string_view ns() const { return ns_; }
  std::string_view name() const { return name_; }
  std::string_view uid() const { return uid_; }
  std::string_view resource_version() const { return resource_version_; }
  ObjectKey Key() const { return {std::string(ns_), std::string(name_)}; }

  // Read anew on each call: keep the result, also in a range-for over one of its members.
  ObjectHeader Header() const;

  // JSON, or protobuf without its envelope. May hold secrets: never log it.
  std::string_view bytes() const { return bytes_; }
  Encoding encoding() const { return encoding_; }

  template <Object T>
  absl::StatusOr<T> Decode() const {
    return DecodeObject<T>(bytes_, encoding_);
  }

  // See ParseRawObject.
  static absl::StatusOr<std::shared_ptr<const RawObject>> Parse(std::string bytes,
                                                                Encoding encoding);

 private:
  absl::Status Index();

  std::string bytes_;
  std::unique_ptr<std::string[]> unescaped_;  // identity that stands escaped in JSON; rare
  std::string_view ns_;
  std::string_view name_;
  std::string_view uid_;
  std::string_view resource_version_;
  Encoding encoding_;
};

// kInvalidArgument when the bytes are cut short, are not of this encoding, or have no
// metadata.name. Protobuf may come with or without its envelope, which is dropped.
absl::StatusOr<std::shared_ptr<const RawObject>> ParseRawObject(std::string bytes,
                                                                Encoding encoding);

}  // namespace mandate

#endif  // MANAGER_OBJECT_RAW_OBJECT_H_
