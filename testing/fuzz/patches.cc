// Compares JSON patch and merge patch with slow and simple implementations.
//
// The input is JSON: [document, patch].
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "manager/object/json.h"
#include "testing/apiserver/patch.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using Document = std::optional<Json::Value>;  // nullopt: the operation cannot be carried out
using Tokens = std::vector<std::string>;

// Applies a merge patch (RFC 7386) to one member. A patch that is not an object replaces the
// member, and null removes it. An object is applied member by member, to an empty object if the
// member is absent or not an object.
void MergeMember(Json::Value& parent, const std::string& name, const Json::Value& patch) {
  if (patch.isNull()) {
    parent.removeMember(name);
  } else if (!patch.isObject()) {
    parent[name] = patch;
  } else {
    if (!FindMember(parent, name) || !parent[name].isObject()) {
      parent[name] = Json::Value(Json::objectValue);
    }
    for (const std::string& member : patch.getMemberNames()) {
      MergeMember(parent[name], member, patch[member]);
    }
  }
}

Json::Value Merge(const Json::Value& target, const Json::Value& patch) {
  Json::Value holder(Json::objectValue);
  holder["x"] = target;
  MergeMember(holder, "x", patch);
  return patch.isNull() ? Json::Value() : holder["x"];
}

std::optional<Tokens> Split(const Json::Value& operation, const char* name) {
  const Json::Value* text = FindMember(operation, name);
  if (text == nullptr || !text->isString()) return std::nullopt;
  const std::string path = text->asString();
  if (path.empty()) return Tokens();
  Tokens tokens = absl::StrSplit(path, '/');
  if (!tokens[0].empty()) return std::nullopt;
  tokens.erase(tokens.begin());
  for (std::string& token : tokens) {
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] == '~' &&
          (i + 1 == token.size() || (token[i + 1] != '0' && token[i + 1] != '1'))) {
        return std::nullopt;
      }
    }
    token = absl::StrReplaceAll(token, {{"~1", "/"}});
    token = absl::StrReplaceAll(token, {{"~0", "~"}});
  }
  return tokens;
}

bool IsIndex(const std::string& token, size_t end) {
  for (size_t i = 0; i < end; ++i) {
    if (token == std::to_string(i)) return true;
  }
  return false;
}

// The value at the path.
Document Get(const Json::Value& value, const Tokens& path, size_t depth = 0) {
  if (depth == path.size()) return value;
  if (value.isObject() && FindMember(value, path[depth])) {
    return Get(value[path[depth]], path, depth + 1);
  }
  if (value.isArray() && IsIndex(path[depth], value.size())) {
    return Get(value[Json::ArrayIndex(std::stoul(path[depth]))], path, depth + 1);
  }
  return std::nullopt;
}

// A new document with `inserted` at the path, or without the value at the path if `inserted` is
// nullopt.
Document Put(const Json::Value& value, const Tokens& path, const Document& inserted,
             size_t depth = 0) {
  if (depth == path.size()) return inserted.value_or(Json::Value());
  const std::string& token = path[depth];
  const bool last = depth + 1 == path.size();
  if (value.isObject()) {
    Json::Value copy = value;
    if (last) {
      if (inserted.has_value()) {
        copy[token] = *inserted;
      } else {
        copy.removeMember(token);
      }
      return copy;
    }
    if (!FindMember(value, token)) return std::nullopt;
    const Document child = Put(value[token], path, inserted, depth + 1);
    if (!child.has_value()) return std::nullopt;
    copy[token] = *child;
    return copy;
  }
  if (!value.isArray()) return std::nullopt;
  const bool inserts = last && inserted.has_value();
  if (!IsIndex(token, value.size() + (inserts ? 1 : 0)) && !(inserts && token == "-")) {
    return std::nullopt;
  }
  const size_t at = token == "-" ? value.size() : std::stoul(token);
  Json::Value copy(Json::arrayValue);
  for (size_t i = 0; i <= value.size(); ++i) {
    if (inserts && i == at) copy.append(*inserted);
    if (i == value.size()) break;
    const Json::Value& element = value[Json::ArrayIndex(i)];
    if (i != at || inserts) {
      copy.append(element);
    } else if (!last) {
      const Document child = Put(element, path, inserted, depth + 1);
      if (!child.has_value()) return std::nullopt;
      copy.append(*child);
    }
  }
  return copy;
}

// Gives each number one spelling: a double without a fraction becomes an integer.
Json::Value Plain(const Json::Value& value) {
  Json::Value plain = value;
  if (value.type() == Json::realValue && value.asDouble() >= -0x1p63 && value.asDouble() < 0x1p64 &&
      value.asDouble() == std::trunc(value.asDouble())) {
    plain = value.asDouble() < 0 ? Json::Value(static_cast<Json::Int64>(value.asDouble()))
                                 : Json::Value(static_cast<Json::UInt64>(value.asDouble()));
  } else if (value.isObject() || value.isArray()) {
    for (auto it = plain.begin(); it != plain.end(); ++it) *it = Plain(*it);
  }
  return plain;
}

Document Step(const Json::Value& document, const Json::Value& operation) {
  const auto path = Split(operation, "path");
  const auto from = Split(operation, "from");
  const Json::Value* op_member = FindMember(operation, "op");
  if (!path.has_value() || op_member == nullptr || !op_member->isString()) return std::nullopt;
  const std::string op = op_member->asString();
  const Json::Value* value = FindMember(operation, "value");
  if (op == "add" && value != nullptr) return Put(document, *path, *value);
  if (op == "remove" && Get(document, *path).has_value()) return Put(document, *path, std::nullopt);
  if (op == "replace" && value != nullptr && Get(document, *path).has_value()) {
    if (path->empty()) return *value;
    const Document without = Put(document, *path, std::nullopt);
    return Put(*without, *path, *value);
  }
  if (op == "test" && value != nullptr) {
    const Document found = Get(document, *path);
    if (found.has_value() && WriteJson(Plain(*found)) == WriteJson(Plain(*value))) return document;
  }
  if (op == "copy" && from.has_value()) {
    const Document found = Get(document, *from);
    if (found.has_value()) return Put(document, *path, found);
  }
  if (op == "move" && from.has_value()) {
    const Document found = Get(document, *from);
    if (!found.has_value()) return std::nullopt;
    if (*from == *path) return document;
    if (path->size() > from->size() &&
        Tokens(path->begin(), path->begin() + from->size()) == *from) {
      return std::nullopt;
    }
    return Put(*Put(document, *from, std::nullopt), *path, found);
  }
  return std::nullopt;
}

Document ApplySimply(Json::Value document, const Json::Value& patch) {
  if (!patch.isArray()) return std::nullopt;
  for (const Json::Value& operation : patch) {
    const Document next = Step(document, operation);
    if (!next.has_value()) return std::nullopt;
    document = *next;
  }
  return document;
}

void Check(const Json::Value& document, const Json::Value& patch) {
  const Json::Value merged = ApplyMergePatch(document, patch);
  const Json::Value simply = Merge(document, patch);
  Require(merged == simply, "merging is what the simple version does", WriteJson(merged),
          WriteJson(simply));
  Require(ApplyMergePatch(merged, patch) == merged, "merging twice is merging once",
          WriteJson(merged));

  const auto patched = ApplyJsonPatch(document, patch);
  if (patched.status().code() == absl::StatusCode::kResourceExhausted) return;
  const Document expected = ApplySimply(document, patch);
  Require(patched.ok() == expected.has_value(), "exactly what can be carried out is",
          patched.status());
  if (!patched.ok()) return;
  Require(*patched == *expected, "patching is what the simple version does", WriteJson(*patched),
          WriteJson(*expected));
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  if (size > 8000) return 0;
  const auto input = ParseJson(Text(data, size), {.max_depth = 64});
  if (!input.ok() || !input->isArray() || input->size() != 2) return 0;
  Check((*input)[0], (*input)[1]);
  return 0;
}
