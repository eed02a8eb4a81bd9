// A forward-only reader of protobuf's wire format, without a message type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate {

// One thread only. Borrows the bytes, and so does what it hands out.
//
//   for (WireCursor wire(bytes); wire.Next();) {
//     if (wire.field() == 1) name = wire.bytes();
//   }
class WireCursor {
 public:
  explicit WireCursor(std::string_view bytes) : rest_(bytes) {}

  // Moves to the next field; false at the end, or for good when the bytes are malformed.
  bool Next();

  uint32_t field() const { return field_; }
  // Whether the field is length-delimited: string, bytes, message.
  bool has_bytes() const { return type_ == kBytes; }
  // "" if it is not.
  std::string_view bytes() const { return bytes_; }
  bool has_varint() const { return type_ == kVarint; }
  // 0 if it is not one.
  uint64_t varint() const { return varint_; }

  // How many bytes follow the field.
  size_t left() const { return rest_.size(); }

  // kInvalidArgument after malformed bytes.
  absl::Status status() const;

 private:
  enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  bool Skip(size_t size);
  bool Fail() {
    failed_ = true;
    return false;
  }

  std::string_view rest_;
  std::string_view bytes_;
  uint64_t varint_ = 0;
  uint32_t field_ = 0;
  uint32_t type_ = kVarint;
  bool failed_ = false;
};

// Takes a varint off the front of `bytes`; false when it is malformed or cut short.
bool ReadWireVarint(std::string_view& bytes, uint64_t* value);

// Appends one length-delimited field.
void AppendWireBytes(uint32_t field, std::string_view bytes, std::string& out);

}  // namespace mandate
