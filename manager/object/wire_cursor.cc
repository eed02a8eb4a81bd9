#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

constexpr uint32_t kLengthDelimited = 2;

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Of more than one byte.
bool ReadLongVarint(std::string_view& bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < 10 && i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 9 && byte > 1) return false;  // more than 64 bits
    *value |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

// Most varints are tags and lengths of one byte.
inline bool ReadVarint(std::string_view& bytes, uint64_t* value) {
  if (bytes.empty() || static_cast<unsigned char>(bytes[0]) >= 0x80) {
    return ReadLongVarint(bytes, value);
  }
  *value = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  return true;
}

}  // namespace

bool ReadWireVarint(std::string_view& bytes, uint64_t* value) { return ReadVarint(bytes, value); }

bool WireCursor::Skip(size_t size) {
  if (rest_.size() < size) return Fail();
  rest_.remove_prefix(size);
  return true;
}

bool WireCursor::Next() {
  bytes_ = {};
  varint_ = 0;
  if (failed_ || rest_.empty()) return false;
  uint64_t tag = 0;
  if (!ReadVarint(rest_, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return Fail();
  field_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<uint32_t>(tag & 7);
  switch (type_) {
    case kVarint:
      return ReadVarint(rest_, &varint_) || Fail();
    case kFixed64:
      return Skip(8);
    case kFixed32:
      return Skip(4);
    case kBytes: {
      uint64_t size = 0;
      if (!ReadVarint(rest_, &size) || size > rest_.size()) return Fail();
      bytes_ = rest_.substr(0, size);
      return Skip(size);
    }
    default:
      return Fail();  // a group; Kubernetes does not use groups
  }
}

absl::Status WireCursor::status() const {
  return failed_ ? absl::InvalidArgumentError("malformed or truncated protobuf") : absl::OkStatus();
}

void AppendWireBytes(uint32_t field, std::string_view bytes, std::string& out) {
  AppendVarint(uint64_t{field} << 3 | kLengthDelimited, out);
  AppendVarint(bytes.size(), out);
  out += bytes;
}

}  // namespace mandate
