#include "testing/apiserver/patch.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using Pointer = std::vector<std::string>;

// RFC 6901. A pointer is empty or begins with a slash; "~1" is a slash, "~0" a tilde.
absl::StatusOr<Pointer> ParsePointer(std::string_view text) {
  Pointer tokens;
  if (text.empty()) return tokens;
  if (text[0] != '/') {
    return absl::InvalidArgumentError(StrCat("the path \"", text, "\" does not begin with '/'"));
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      tokens.emplace_back();
    } else if (text[i] != '~') {
      tokens.back() += text[i];
    } else {
      const char escaped = i + 1 < text.size() ? text[++i] : '\0';
      if (escaped != '0' && escaped != '1') {
        return absl::InvalidArgumentError(
            StrCat("the path \"", text, "\" has a '~' that is neither ~0 nor ~1"));
      }
      tokens.back() += escaped == '0' ? '~' : '/';
    }
  }
  return tokens;
}

// An index of an array that is below `end`: digits without a leading zero.
std::optional<Json::ArrayIndex> IndexOf(std::string_view token, Json::ArrayIndex end) {
  uint32_t index = 0;
  const bool digits = !token.empty() && token.find_first_not_of("0123456789") == token.npos;
  if (!digits || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  if (!absl::SimpleAtoi(AsAbsl(token), &index) || index >= end) return std::nullopt;
  return index;
}

// The child of that name or index; nullptr when there is none.
Json::Value* Child(Json::Value& parent, const std::string& token) {
  if (parent.isObject()) return parent.isMember(token) ? &parent[token] : nullptr;
  if (!parent.isArray()) return nullptr;
  const auto index = IndexOf(token, parent.size());
  return index.has_value() ? &parent[*index] : nullptr;
}

int DepthOf(const Json::Value& value) {
  if (!value.isObject() && !value.isArray()) return 0;
  int deepest = 0;
  for (const Json::Value& child : value) deepest = std::max(deepest, DepthOf(child));
  return deepest + 1;
}

bool SameNumber(const Json::Value& a, const Json::Value& b) {
  if (a.type() == Json::realValue && b.type() == Json::realValue) {
    return a.asDouble() == b.asDouble();
  }
  if (a.type() == Json::realValue) return SameNumber(b, a);
  if (b.type() != Json::realValue) {
    if (a.isUInt64() && b.isUInt64()) return a.asUInt64() == b.asUInt64();
    return a.isInt64() && b.isInt64() && a.asInt64() == b.asInt64();
  }
  // An integer and a double: equal only if the double is that integer, without rounding.
  const double real = b.asDouble();
  if (std::trunc(real) != real) return false;
  if (real >= 0) {
    return a.isUInt64() && real < 0x1p64 && a.asUInt64() == static_cast<uint64_t>(real);
  }
  return a.isInt64() && real >= -0x1p63 && a.asInt64() == static_cast<int64_t>(real);
}

// Whether a value is a JSON number. (jsoncpp's isNumeric also counts booleans.)
bool IsNumber(const Json::Value& value) {
  return value.type() == Json::intValue || value.type() == Json::uintValue ||
         value.type() == Json::realValue;
}

bool Same(const Json::Value& a, const Json::Value& b) {
  if (IsNumber(a) && IsNumber(b)) return SameNumber(a, b);
  if (a.type() != b.type()) return false;
  if (a.isArray()) {
    if (a.size() != b.size()) return false;
    for (Json::ArrayIndex i = 0; i < a.size(); ++i) {
      if (!Same(a[i], b[i])) return false;
    }
    return true;
  }
  if (a.isObject()) {
    if (a.size() != b.size()) return false;
    for (auto it = a.begin(); it != a.end(); ++it) {
      const Json::Value* other = FindMember(b, it.name());
      if (other == nullptr || !Same(*it, *other)) return false;
    }
    return true;
  }
  return a == b;
}

// Applies operations to one document.
class JsonPatcher {
 public:
  JsonPatcher(Json::Value* document, const PatchLimits& limits)
      : document_(*document), limits_(limits) {}

  absl::Status Apply(const Json::Value& operation) {
    if (!operation.isObject()) return absl::InvalidArgumentError("is not an object");
    ASSIGN_OR_RETURN(const std::string op, Text(operation, "op"));
    ASSIGN_OR_RETURN(const std::string path, Text(operation, "path"));
    ASSIGN_OR_RETURN(const Pointer at, ParsePointer(path));
    if (op == "remove") return Remove(at);
    if (op == "move" || op == "copy") {
      ASSIGN_OR_RETURN(const std::string from_path, Text(operation, "from"));
      ASSIGN_OR_RETURN(const Pointer from, ParsePointer(from_path));
      return op == "move" ? Move(from, at) : Copy(from, at);
    }
    if (op != "add" && op != "replace" && op != "test") {
      return absl::InvalidArgumentError(StrCat("has the unknown op \"", op, "\""));
    }
    const Json::Value* value = FindMember(operation, "value");
    if (value == nullptr) return absl::InvalidArgumentError(StrCat("has no value to ", op));
    if (op == "add") return Add(at, *value);
    Json::Value* target = Find(at);
    if (target == nullptr) return NotThere(path);
    if (op == "test") {
      if (Same(*target, *value)) return absl::OkStatus();
      return absl::FailedPreconditionError(StrCat("the value at \"", path, "\" differs"));
    }
    RETURN_IF_ERROR(CheckDepth(at, *value));
    *target = *value;
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<std::string> Text(const Json::Value& operation, std::string_view name) {
    const Json::Value* value = FindMember(operation, name);
    if (value != nullptr && value->isString()) return value->asString();
    return absl::InvalidArgumentError(StrCat("has no string \"", name, "\""));
  }

  static std::string ToString(const Pointer& pointer) {
    std::string text;
    for (const std::string& token : pointer) {
      text += '/';
      for (char c : token) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return text;
  }

  static absl::Status NotThere(std::string_view path) {
    return absl::FailedPreconditionError(StrCat("there is nothing at \"", path, "\""));
  }

  Json::Value* Find(const Pointer& pointer, size_t without_last = 0) {
    Json::Value* value = &document_;
    for (size_t i = 0; value != nullptr && i + without_last < pointer.size(); ++i) {
      value = Child(*value, pointer[i]);
    }
    return value;
  }

  absl::Status CheckDepth(const Pointer& at, const Json::Value& value) const {
    if (static_cast<int>(std::min(at.size(), size_t{1} << 20)) + DepthOf(value) <=
        limits_.max_depth) {
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(
        StrCat("the document would be deeper than the limit of ", limits_.max_depth));
  }

  absl::Status Add(const Pointer& at, Json::Value value) {
    RETURN_IF_ERROR(CheckDepth(at, value));
    if (at.empty()) {
      document_ = std::move(value);
      return absl::OkStatus();
    }
    Json::Value* parent = Find(at, 1);
    if (parent != nullptr && parent->isObject()) {
      (*parent)[at.back()] = std::move(value);
      return absl::OkStatus();
    }
    if (parent == nullptr || !parent->isArray()) return NotThere(ToString(at));
    if (at.back() == "-") {
      parent->append(std::move(value));
      return absl::OkStatus();
    }
    const auto index = IndexOf(at.back(), parent->size() + 1);
    if (!index.has_value()) return NotThere(ToString(at));
    parent->insert(*index, std::move(value));
    return absl::OkStatus();
  }

  absl::Status Remove(const Pointer& at) {
    if (Find(at) == nullptr) return NotThere(ToString(at));
    if (at.empty()) {
      document_ = Json::Value();
      return absl::OkStatus();
    }
    Json::Value* parent = Find(at, 1);
    Json::Value removed;
    if (parent->isObject()) {
      parent->removeMember(at.back(), &removed);
    } else {
      parent->removeIndex(*IndexOf(at.back(), parent->size()), &removed);
    }
    return absl::OkStatus();
  }

  absl::Status Move(const Pointer& from, const Pointer& at) {
    const Json::Value* value = Find(from);
    if (value == nullptr) return NotThere(ToString(from));
    if (from == at) return absl::OkStatus();
    if (from.size() < at.size() && std::equal(from.begin(), from.end(), at.begin())) {
      return absl::FailedPreconditionError(
          StrCat("\"", ToString(from), "\" cannot be moved into itself"));
    }
    Json::Value moved = *value;
    RETURN_IF_ERROR(Remove(from));
    return Add(at, std::move(moved));
  }

  absl::Status Copy(const Pointer& from, const Pointer& at) {
    const Json::Value* value = Find(from);
    if (value == nullptr) return NotThere(ToString(from));
    copied_ += WriteJson(*value).size();
    if (copied_ > limits_.max_copied_bytes) {
      return absl::ResourceExhaustedError(
          StrCat("copies more than the limit of ", limits_.max_copied_bytes, " bytes"));
    }
    return Add(at, *value);
  }

  Json::Value& document_;
  const PatchLimits& limits_;
  size_t copied_ = 0;
};

}  // namespace

Json::Value ApplyMergePatch(Json::Value target, const Json::Value& patch) {
  if (!patch.isObject()) return patch;
  if (!target.isObject()) target = Json::Value(Json::objectValue);
  for (auto it = patch.begin(); it != patch.end(); ++it) {
    if (it->isNull()) {
      target.removeMember(it.name());
    } else {
      Json::Value& member = target[it.name()];
      member = ApplyMergePatch(std::move(member), *it);
    }
  }
  return target;
}

absl::StatusOr<Json::Value> ApplyJsonPatch(Json::Value document, const Json::Value& patch,
                                           const PatchLimits& limits) {
  if (!patch.isArray()) return absl::InvalidArgumentError("a JSON patch must be an array");
  if (patch.size() > limits.max_operations) {
    return absl::ResourceExhaustedError(StrCat("a JSON patch of ", patch.size(),
                                               " operations is larger than the limit of ",
                                               limits.max_operations));
  }
  JsonPatcher patcher(&document, limits);
  for (Json::ArrayIndex i = 0; i < patch.size(); ++i) {
    if (absl::Status status = patcher.Apply(patch[i]); !status.ok()) {
      return absl::Status(status.code(),
                          StrCat("operation ", i, " of the JSON patch: ", status.message()));
    }
  }
  return document;
}

}  // namespace mandate
