#include "manager/object/json.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/printable.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_text.h"

namespace mandate {
namespace {

using Token = JsonCursor::Token;

absl::Status ErrorAt(std::string_view text, size_t offset, std::string_view what) {
  return absl::InvalidArgumentError(
      StrCat("invalid JSON at ", JsonCursor::Position(text, offset), ": ", what));
}

absl::StatusOr<Json::Value> NumberOf(std::string_view literal) {
  if (literal.find_first_of(".eE") == std::string_view::npos) {
    int64_t integer = 0;
    uint64_t natural = 0;
    if (absl::SimpleAtoi(AsAbsl(literal), &integer)) return Json::Value(Json::Int64{integer});
    if (absl::SimpleAtoi(AsAbsl(literal), &natural)) return Json::Value(Json::UInt64{natural});
  }
  double real = 0;
  const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), real);
  if (error != std::errc() || !std::isfinite(real)) {
    return absl::OutOfRangeError(StrCat("the number ", literal, " is out of range"));
  }
  return Json::Value(real);
}

// Builds a tree from the cursor's next value.
class Builder {
 public:
  Builder(std::string_view text, const JsonLimits& limits) : text_(text), cursor_(text, limits) {}

  absl::StatusOr<Json::Value> Build() {
    Json::Value value;
    RETURN_IF_ERROR(Read(value));
    RETURN_IF_ERROR(cursor_.Finish());
    return value;
  }

 private:
  absl::Status Read(Json::Value& value) {
    const size_t start = cursor_.Offset();
    switch (cursor_.Peek()) {
      case Token::kObject: {
        value = Json::Value(Json::objectValue);
        std::string_view key;
        for (cursor_.BeginObject(); cursor_.NextMember(&key);) {
          if (FindMember(value, key) != nullptr) {
            return ErrorAt(text_, cursor_.Offset(), StrCat("duplicate key \"", key, "\""));
          }
          RETURN_IF_ERROR(Read(value[std::string(key)]));
        }
        break;
      }
      case Token::kArray:
        value = Json::Value(Json::arrayValue);
        for (cursor_.BeginArray(); cursor_.NextElement();) {
          RETURN_IF_ERROR(Read(value.append(Json::Value())));
        }
        break;
      case Token::kString: {
        std::string_view string;
        cursor_.ReadString(&string);
        value = Json::Value(string.data(), string.data() + string.size());
        break;
      }
      case Token::kNumber: {
        std::string_view literal;
        if (!cursor_.ReadNumber(&literal)) break;
        absl::StatusOr<Json::Value> number = NumberOf(literal);
        if (!number.ok()) return ErrorAt(text_, start, AsStd(number.status().message()));
        value = *std::move(number);
        break;
      }
      case Token::kBool: {
        bool flag = false;
        cursor_.ReadBool(&flag);
        value = Json::Value(flag);
        break;
      }
      case Token::kNull:
      case Token::kInvalid:  // SkipValue sets the error
        cursor_.SkipValue();
        value = Json::Value();
        break;
    }
    RETURN_IF_ERROR(cursor_.status());
    return absl::OkStatus();
  }

  const std::string_view text_;
  JsonCursor cursor_;
};

void Append(const Json::Value& value, std::string& out) {
  switch (value.type()) {
    case Json::nullValue:
      out += "null";
      break;
    case Json::booleanValue:
      out += value.asBool() ? "true" : "false";
      break;
    case Json::intValue:
      StrAppend(&out, value.asInt64());
      break;
    case Json::uintValue:
      StrAppend(&out, value.asUInt64());
      break;
    case Json::realValue:
      AppendJsonDouble(value.asDouble(), out);
      break;
    case Json::stringValue: {
      const char* begin = nullptr;
      const char* end = nullptr;
      value.getString(&begin, &end);
      AppendJsonString({begin, static_cast<size_t>(end - begin)}, out);
      break;
    }
    case Json::arrayValue: {
      out += '[';
      for (Json::ArrayIndex i = 0; i < value.size(); ++i) {
        if (i > 0) out += ',';
        Append(value[i], out);
      }
      out += ']';
      break;
    }
    case Json::objectValue: {
      out += '{';
      bool first = true;
      for (auto it = value.begin(); it != value.end(); ++it) {
        if (!std::exchange(first, false)) out += ',';
        AppendJsonString(it.name(), out);
        out += ':';
        Append(*it, out);
      }
      out += '}';
      break;
    }
  }
}

}  // namespace

absl::StatusOr<Json::Value> ParseJson(std::string_view text, const JsonLimits& limits) {
  return Builder(text, limits).Build();
}

std::string WriteJson(const Json::Value& value) {
  std::string out;
  Append(value, out);
  return out;
}

const Json::Value* FindMember(const Json::Value& value, std::string_view key) {
  if (!value.isObject()) return nullptr;
  return value.find(key.data(), key.data() + key.size());
}

}  // namespace mandate
