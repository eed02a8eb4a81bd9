// A forward-only reader of JSON text (RFC 8259), strict, without building a tree.
//
//   JsonCursor json(text);
//   std::string_view key;
//   for (json.BeginObject(); json.NextMember(&key);) {
//     if (key == "kind") json.ReadString(&kind); else json.SkipValue();
//   }
//   RETURN_IF_ERROR(json.Finish());
//
// After the first error every call returns false and status() says what and where.
#pragma once

#include <cstddef>
#include <forward_list>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate {

struct JsonLimits {
  size_t max_bytes = size_t{64} << 20;
  // The maximum depth of nested objects and arrays. The default is the limit of Go's encoding/json.
  // An API server can store an object of this depth in a field with
  // x-kubernetes-preserve-unknown-fields.
  int max_depth = 10'000;
  // The maximum number of objects and arrays in the text. Each may cost its reader a hundred times
  // its two bytes.
  size_t max_containers = std::numeric_limits<size_t>::max();
};

// The limit of readers that use the stack for each level.
inline constexpr int kMaxRecursion = 512;

// One thread only. Borrows `text`; views that it hands out live as long as both the text and the
// cursor do.
class JsonCursor {
 public:
  enum class Token { kObject, kArray, kString, kNumber, kBool, kNull, kInvalid };

  // A place in the text.
  struct Place {
    size_t at = 0;
    int depth = 0;
    bool first = true;
  };

  explicit JsonCursor(std::string_view text, const JsonLimits& limits = {})
      : JsonCursor(text, limits, Place()) {}
  // Goes on from a place of another cursor, where it is now in `text`: what came before it may be
  // gone, and what follows may be more.
  JsonCursor(std::string_view text, const JsonLimits& limits, const Place& from);
  JsonCursor(const JsonCursor&) = delete;
  JsonCursor& operator=(const JsonCursor&) = delete;

  // The type of the next value, by its first character.
  Token Peek();
  // "an object", "a string", … for messages.
  static std::string_view Describe(Token token);

  bool BeginObject();
  // Reads the key of the next member; the cursor is then at its value. Returns false at the end of
  // the object, which it also reads.
  bool NextMember(std::string_view* key);
  bool BeginArray();
  // Whether an element follows, with the cursor before it; false at the array's end, consumed.
  bool NextElement();

  // Unescaped.
  bool ReadString(std::string_view* value);
  // As it is written: "1", "-2.50e3".
  bool ReadNumber(std::string_view* literal);
  bool ReadBool(bool* value);
  bool ReadNull();

  // Any value, checked; `source` is its text.
  bool SkipValue(std::string_view* source = nullptr);

  // The position of the next value, in bytes from the start of the text.
  size_t Offset();
  // The number of consumed bytes: the end of the last value.
  size_t Consumed() const { return at_; }

  // The text consumed since Offset() was `start`.
  std::string_view TextSince(size_t start) const { return text_.substr(start, at_ - start); }

  Place Mark() const { return {at_, depth_, first_}; }

  const absl::Status& status() const { return status_; }
  // The status; also an error when anything but white space follows the value just read.
  absl::Status Finish();

  // "line 3, column 7", counted from 1, columns in bytes.
  static std::string Position(std::string_view text, size_t offset);

 private:
  void SkipSpace() {
    if (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') SkipMoreSpace();
  }
  void SkipMoreSpace();
  bool Expect(char c);
  bool Enter(char open);
  bool Leave(char close);
  bool Separate(char close, bool* ended);
  [[gnu::cold]] bool Fail(std::string_view what);
  [[gnu::cold]] bool FailAt(size_t offset, std::string_view what);
  // `close`, too: the end of an object or array would also be valid. '\0': it would not.
  [[gnu::cold]] bool FailToFind(char expected, char close = '\0');
  bool ScanString(std::string_view* raw, bool* escaped);
  bool ScanNumber();
  bool ScanWord(std::string_view word);
  bool SkipScalar(Token token);
  // Moves to the next value within an open object or array, past the member's name if it has one.
  // False after an error, and at the end, which sets `ended`.
  bool NextWithin(char close, bool* ended);

  std::string_view text_;
  size_t at_;
  int depth_;
  const int max_depth_;
  size_t containers_left_;
  bool first_;  // nothing was read yet of the innermost object or array
  absl::Status status_;
  std::forward_list<std::string> unescaped_;
};

}  // namespace mandate
