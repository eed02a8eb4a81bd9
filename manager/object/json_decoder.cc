#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_walker.h"

namespace mandate {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Token = JsonCursor::Token;

// The path of a value, as a list that goes up the stack. It becomes text only for an error.
struct Path {
  enum class Step { kRoot, kMember, kIndex, kMapKey };
  const Path* parent = nullptr;
  Step step = Step::kRoot;
  std::string_view name;
  int index = 0;

  // "spec.rules[0].verbs"; "metadata.labels[app]".
  std::string ToString() const {
    std::string up = parent == nullptr ? "" : parent->ToString();
    switch (step) {
      case Step::kRoot:
        break;
      case Step::kMember:
        StrAppend(&up, up.empty() ? "" : ".", name);
        break;
      case Step::kIndex:
        StrAppend(&up, "[", index, "]");
        break;
      case Step::kMapKey:
        StrAppend(&up, "[", name, "]");
        break;
    }
    return up;
  }
};

class Decoder {
 public:
  Decoder(std::string_view text, const FromJsonOptions& options)
      : json_(text, options.limits), options_(options) {}

  absl::Status Decode(const MessagePlan& plan, Message& out) {
    RETURN_IF_ERROR(json_.status());
    RETURN_IF_ERROR(DecodeMessage(plan, out, Path{}));
    return json_.Finish();
  }

 private:
  absl::Status Error(const Path& path, std::string_view what) {
    const std::string where = path.ToString();
    return absl::InvalidArgumentError(StrCat(where, where.empty() ? "" : ": ", what));
  }

  absl::Status Expect(Token token, const Path& path) {
    const Token found = json_.Peek();
    if (found == token) return absl::OkStatus();
    if (found == Token::kInvalid) {  // SkipValue sets the error
      json_.SkipValue();
      return json_.status();
    }
    return Error(path, StrCat("expected ", JsonCursor::Describe(token), ", got ",
                              JsonCursor::Describe(found)));
  }

  absl::Status DecodeMessage(const MessagePlan& plan, Message& message, const Path& path) {
    if (plan.hook != JsonHook::kNone) {
      const absl::Status status = DecodeHook(plan.hook, json_, message);
      RETURN_IF_ERROR(json_.status());
      return status.ok() ? status : Error(path, AsStd(status.message()));
    }
    RETURN_IF_ERROR(Expect(Token::kObject, path));
    if (++depth_ > kMaxRecursion) {
      return Error(
          path, StrCat("objects are nested deeper than the limit of ", kMaxRecursion, " levels"));
    }
    std::set<std::string_view> seen;  // in strict mode
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      const Path member{&path, Path::Step::kMember, key};
      if (options_.strict && !seen.insert(key).second) return Error(member, "duplicate field");
      const auto found = plan.members.find(key);
      if (found != plan.members.end()) {
        RETURN_IF_ERROR(DecodeMember(found->second, message, member));
      } else if (MayNameType(plan, path) && (key == "apiVersion" || key == "kind")) {
        RETURN_IF_ERROR(CheckType(key, member));
      } else if (options_.strict) {
        return Error(member, "unknown field");
      } else {
        json_.SkipValue();
      }
    }
    --depth_;
    return json_.status();
  }

  // Whether the JSON may have apiVersion and kind, which are not fields of the message. True for
  // the root, and for every message with metadata.
  static bool MayNameType(const MessagePlan& plan, const Path& path) {
    return plan.has_metadata || path.step == Path::Step::kRoot;
  }

  absl::Status CheckType(std::string_view key, const Path& path) {
    if (json_.Peek() == Token::kNull) {
      json_.ReadNull();
      return json_.status();
    }
    RETURN_IF_ERROR(Expect(Token::kString, path));
    std::string_view value;
    json_.ReadString(&value);
    RETURN_IF_ERROR(json_.status());
    const bool top = path.parent->step == Path::Step::kRoot;
    if (options_.kind == nullptr || !top) return absl::OkStatus();
    const std::string expected =
        key == "kind" ? std::string(options_.kind->kind) : options_.kind->ApiVersion();
    if (value == expected || value.empty()) return absl::OkStatus();
    return Error(path, StrCat("expected ", expected, ", got ", value));
  }

  absl::Status DecodeMember(const MemberPlan& plan, Message& message, const Path& path) {
    if (json_.Peek() == Token::kNull) {
      json_.ReadNull();
      return json_.status();
    }
    Message* holder = &message;
    for (const FieldPlan* step : plan.through) {
      holder = holder->GetReflection()->MutableMessage(holder, step->field);
    }
    const FieldPlan& field = *plan.target;
    // If a member is repeated, the last one counts.
    holder->GetReflection()->ClearField(holder, field.field);
    if (field.field->is_map()) return DecodeMap(field, *holder, path);
    if (field.field->is_repeated()) return DecodeList(field, *holder, path);
    return DecodeValue(field, *holder, path);
  }

  absl::Status DecodeList(const FieldPlan& plan, Message& message, const Path& path) {
    RETURN_IF_ERROR(Expect(Token::kArray, path));
    int index = 0;
    for (json_.BeginArray(); json_.NextElement(); ++index) {
      RETURN_IF_ERROR(DecodeValue(plan, message, Path{&path, Path::Step::kIndex, "", index}));
    }
    return json_.status();
  }

  absl::Status DecodeMap(const FieldPlan& plan, Message& message, const Path& path) {
    RETURN_IF_ERROR(Expect(Token::kObject, path));
    const FieldDescriptor* key_field = plan.field->message_type()->map_key();
    if (key_field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      return Error(path, "the keys of a map must be strings");
    }
    FieldPlan value = plan;
    value.field = plan.field->message_type()->map_value();
    std::set<std::string_view> seen;
    std::string_view key;
    for (json_.BeginObject(); json_.NextMember(&key);) {
      const Path member{&path, Path::Step::kMapKey, key};
      if (options_.strict && !seen.insert(key).second) return Error(member, "duplicate field");
      Message* entry = message.GetReflection()->AddMessage(&message, plan.field);
      entry->GetReflection()->SetString(entry, key_field, std::string(key));
      RETURN_IF_ERROR(DecodeValue(value, *entry, member));
    }
    return json_.status();
  }

  // Decodes one value: appends it to a repeated field, or sets a singular one.
  absl::Status DecodeValue(const FieldPlan& plan, Message& message, const Path& path) {
    const Reflection& r = *message.GetReflection();
    const FieldDescriptor* f = plan.field;
    const bool add = f->is_repeated();
    // An element or map value that is null is a zero value, as in Go.
    const bool null = json_.Peek() == Token::kNull;
    if (null) json_.ReadNull();
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return DecodeNumber(&Reflection::SetInt32, &Reflection::AddInt32, f, message, path, null);
      case FieldDescriptor::CPPTYPE_INT64:
        return DecodeNumber(&Reflection::SetInt64, &Reflection::AddInt64, f, message, path, null);
      case FieldDescriptor::CPPTYPE_UINT32:
        return DecodeNumber(&Reflection::SetUInt32, &Reflection::AddUInt32, f, message, path, null);
      case FieldDescriptor::CPPTYPE_UINT64:
        return DecodeNumber(&Reflection::SetUInt64, &Reflection::AddUInt64, f, message, path, null);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return DecodeNumber(&Reflection::SetDouble, &Reflection::AddDouble, f, message, path, null);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return DecodeNumber(&Reflection::SetFloat, &Reflection::AddFloat, f, message, path, null);
      case FieldDescriptor::CPPTYPE_BOOL: {
        bool value = false;
        if (!null) {
          RETURN_IF_ERROR(Expect(Token::kBool, path));
          json_.ReadBool(&value);
          RETURN_IF_ERROR(json_.status());
        }
        add ? r.AddBool(&message, f, value) : r.SetBool(&message, f, value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string value;
        if (!null)
          RETURN_IF_ERROR(ReadText(f->type() == FieldDescriptor::TYPE_BYTES, &value, path));
        add ? r.AddString(&message, f, std::move(value))
            : r.SetString(&message, f, std::move(value));
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        Message* value = add ? r.AddMessage(&message, f) : r.MutableMessage(&message, f);
        return null ? absl::OkStatus() : DecodeMessage(*plan.message, *value, path);
      }
      case FieldDescriptor::CPPTYPE_ENUM:
        break;
    }
    return Error(path, "enums are not supported; make the field a string");
  }

  template <class Number>
  using Setter = void (Reflection::*)(Message*, const FieldDescriptor*, Number) const;

  template <class Number>
  absl::Status DecodeNumber(Setter<Number> set, Setter<Number> add, const FieldDescriptor* field,
                            Message& message, const Path& path, bool null) {
    Number value = 0;
    if (!null) RETURN_IF_ERROR(ReadNumber(&value, path));
    (message.GetReflection()->*(field->is_repeated() ? add : set))(&message, field, value);
    return absl::OkStatus();
  }

  absl::Status ReadNumber(double* value, const Path& path) {
    RETURN_IF_ERROR(Expect(Token::kNumber, path));
    std::string_view literal;
    if (!json_.ReadNumber(&literal)) return json_.status();
    const auto [end, error] =
        std::from_chars(literal.data(), literal.data() + literal.size(), *value);
    if (error == std::errc() && std::isfinite(*value)) return absl::OkStatus();
    return Error(path, StrCat("the number ", literal, " is out of range"));
  }

  absl::Status ReadNumber(float* value, const Path& path) {
    double wide = 0;
    RETURN_IF_ERROR(ReadNumber(&wide, path));
    *value = static_cast<float>(wide);
    return std::isfinite(*value) ? absl::OkStatus() : Error(path, "the number is out of range");
  }

  // Accepts "3.0" and "3e0", too, because the server returns a number as it was sent.
  template <class Int>
  absl::Status ReadNumber(Int* value, const Path& path) {
    RETURN_IF_ERROR(Expect(Token::kNumber, path));
    std::string_view literal;
    if (!json_.ReadNumber(&literal)) return json_.status();
    if (absl::SimpleAtoi(AsAbsl(literal), value)) return absl::OkStatus();
    double real = 0;
    const auto [end, error] =
        std::from_chars(literal.data(), literal.data() + literal.size(), real);
    // A double is exact for whole numbers only up to 2^53.
    const double limit = std::min(static_cast<double>(std::numeric_limits<Int>::max()), 0x1p53);
    const double least = std::is_signed_v<Int> ? -limit : 0;
    if (error == std::errc() && literal.find_first_of(".eE") != std::string_view::npos &&
        std::trunc(real) == real && real >= least && real <= limit) {
      *value = static_cast<Int>(real);
      return absl::OkStatus();
    }
    return Error(path, StrCat("expected ", std::is_signed_v<Int> ? "an" : "an unsigned",
                              " integer of ", sizeof(Int) * 8, " bits, got ", literal));
  }

  absl::Status ReadText(bool base64, std::string* value, const Path& path) {
    RETURN_IF_ERROR(Expect(Token::kString, path));
    std::string_view text;
    json_.ReadString(&text);
    RETURN_IF_ERROR(json_.status());
    if (!base64) {
      *value = text;
      return absl::OkStatus();
    }
    // The error message omits the text, which may be a secret.
    if (text.size() % 4 == 0 && absl::Base64Unescape(AsAbsl(text), value)) return absl::OkStatus();
    return Error(path, "the text is not standard base64");
  }

  JsonCursor json_;
  const FromJsonOptions& options_;
  int depth_ = 0;  // the number of nested messages
};

}  // namespace

absl::Status DecodeJson(const MessagePlan& plan, std::string_view json,
                        const FromJsonOptions& options, Message& out) {
  return Decoder(json, options).Decode(plan, out);
}

}  // namespace mandate
