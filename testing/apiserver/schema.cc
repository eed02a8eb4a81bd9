#include "testing/apiserver/schema.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

constexpr std::array<std::string_view, 29> kKeywords = {"additionalProperties",
                                                        "default",
                                                        "description",
                                                        "enum",
                                                        "example",
                                                        "exclusiveMaximum",
                                                        "exclusiveMinimum",
                                                        "externalDocs",
                                                        "format",
                                                        "id",
                                                        "items",
                                                        "maxItems",
                                                        "maxLength",
                                                        "maxProperties",
                                                        "maximum",
                                                        "minItems",
                                                        "minLength",
                                                        "minProperties",
                                                        "minimum",
                                                        "nullable",
                                                        "pattern",
                                                        "properties",
                                                        "required",
                                                        "title",
                                                        "type",
                                                        "x-kubernetes-int-or-string",
                                                        "x-kubernetes-list-map-keys",
                                                        "x-kubernetes-list-type",
                                                        "x-kubernetes-map-type"};
constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";

std::string FirstUnknown(const Json::Value& schema) {
  if (!schema.isObject()) return "";
  for (const std::string& key : schema.getMemberNames()) {
    if (key != kPreserve && std::find(kKeywords.begin(), kKeywords.end(), key) == kKeywords.end()) {
      return key;
    }
    if (key == "items" || key == "additionalProperties") {
      if (std::string found = FirstUnknown(schema[key]); !found.empty()) return found;
    } else if (key == "properties") {
      for (const std::string& name : schema[key].getMemberNames()) {
        if (std::string found = FirstUnknown(schema[key][name]); !found.empty()) return found;
      }
    }
  }
  return "";
}

bool FlagAt(const Json::Value& schema, std::string_view key) {
  const Json::Value* flag = FindMember(schema, key);
  return flag != nullptr && flag->isBool() && flag->asBool();
}

const Json::Value* SchemaOfMember(const Json::Value& schema, const std::string& name) {
  const Json::Value* properties = FindMember(schema, "properties");
  const Json::Value* own = properties == nullptr ? nullptr : FindMember(*properties, name);
  if (own != nullptr) return own;
  const Json::Value* any = FindMember(schema, "additionalProperties");
  return any != nullptr && any->isObject() ? any : nullptr;
}

// The members that every object has and that its schema does not describe.
bool IsTypeOrMetadata(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

std::string_view TypeOf(const Json::Value& value) {
  if (value.isNull()) return "null";
  if (value.isBool()) return "boolean";
  if (value.isString()) return "string";
  if (value.isObject()) return "object";
  if (value.isArray()) return "array";
  return value.isIntegral() ? "integer" : "number";
}

class Validator {
 public:
  explicit Validator(std::vector<Cause>* causes) : causes_(*causes) {}

  void Check(const Json::Value& value, const Json::Value& schema, const std::string& path) {
    if (value.isNull() && FlagAt(schema, "nullable")) return;
    CheckType(value, schema, path);
    CheckEnum(value, schema, path);
    if (value.isString()) CheckString(value.asString(), schema, path);
    if (value.isNumeric()) CheckNumber(value, schema, path);
    if (value.isArray()) CheckArray(value, schema, path);
    if (value.isObject()) CheckObject(value, schema, path);
  }

  void CheckObject(const Json::Value& value, const Json::Value& schema, const std::string& path) {
    if (const Json::Value* required = FindMember(schema, "required")) {
      for (const Json::Value& name : *required) {
        if (!value.isMember(name.asString())) {
          causes_.push_back(RequiredField(Join(path, name.asString()), ""));
        }
      }
    }
    for (const std::string& name : value.getMemberNames()) {
      if (path.empty() && IsTypeOrMetadata(name)) continue;
      const Json::Value* member = SchemaOfMember(schema, name);
      if (member == nullptr) continue;
      Check(value[name], *member, Join(path, name));
    }
  }

 private:
  static std::string Join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  void Add(std::string_view path, std::string_view value, std::string_view words) {
    causes_.push_back(InvalidField(path, value, StrCat(path, " in body ", words)));
  }

  void CheckType(const Json::Value& value, const Json::Value& schema, const std::string& path) {
    if (FlagAt(schema, "x-kubernetes-int-or-string")) {
      if (value.isIntegral() || value.isString()) return;
    }
    const std::string wanted = StringAt(schema, "type");
    const std::string_view type = TypeOf(value);
    if (wanted.empty() || wanted == type || (wanted == "number" && type == "integer")) return;
    Cause cause =
        InvalidField(path, rbac::Quote(type),
                     StrCat(path, " in body must be of type ", wanted, ": ", rbac::Quote(type)));
    cause.reason = "FieldValueTypeInvalid";
    causes_.push_back(std::move(cause));
  }

  void CheckEnum(const Json::Value& value, const Json::Value& schema, const std::string& path) {
    const Json::Value* allowed = FindMember(schema, "enum");
    if (allowed == nullptr) return;
    std::vector<std::string> names;
    for (const Json::Value& one : *allowed) {
      if (one == value) return;
      names.push_back(one.isString() ? one.asString() : WriteJson(one));
    }
    causes_.push_back(UnsupportedValue(path, WriteJson(value), names));
  }

  void CheckString(const std::string& text, const Json::Value& schema, const std::string& path) {
    const auto length = static_cast<int64_t>(text.size());
    if (const Json::Value* least = FindMember(schema, "minLength");
        least != nullptr && length < least->asInt64()) {
      Add(path, rbac::Quote(text), StrCat("should be at least ", least->asInt64(), " chars long"));
      return;
    }
    if (const Json::Value* most = FindMember(schema, "maxLength");
        most != nullptr && length > most->asInt64()) {
      causes_.push_back({"FieldValueTooLong",
                         StrCat("Too long: may not be more than ", most->asInt64(), " bytes"),
                         path});
      return;
    }
    const std::string pattern = StringAt(schema, "pattern");
    if (pattern.empty()) return;
    if (!re2::RE2::PartialMatch(text, pattern)) {
      Add(path, rbac::Quote(text), StrCat("should match '", pattern, "'"));
    }
  }

  void CheckNumber(const Json::Value& value, const Json::Value& schema, const std::string& path) {
    if (StringAt(schema, "type") == "integer" && !value.isIntegral()) {
      // The server's check of ranges reports no path.
      causes_.push_back(
          InvalidField("<nil>", "\"\"",
                       StrCat("Checked value must be of type integer (default format) in ", path)));
    }
    const Json::Value* least = FindMember(schema, "minimum");
    const Json::Value* most = FindMember(schema, "maximum");
    if (least != nullptr && value.asDouble() < least->asDouble()) {
      Add(path, WriteJson(value), StrCat("should be greater than or equal to ", WriteJson(*least)));
    }
    if (most != nullptr && value.asDouble() > most->asDouble()) {
      Add(path, WriteJson(value), StrCat("should be less than or equal to ", WriteJson(*most)));
    }
  }

  void CheckArray(const Json::Value& value, const Json::Value& schema, const std::string& path) {
    const auto size = static_cast<int64_t>(value.size());
    if (const Json::Value* least = FindMember(schema, "minItems");
        least != nullptr && size < least->asInt64()) {
      Add(path, std::to_string(size), StrCat("should have at least ", least->asInt64(), " items"));
    }
    if (const Json::Value* most = FindMember(schema, "maxItems");
        most != nullptr && size > most->asInt64()) {
      causes_.push_back(
          {"FieldValueTooMany",
           StrCat("Too many: ", size, ": must have at most ", most->asInt64(), " items"), path});
    }
    const Json::Value* items = FindMember(schema, "items");
    if (items == nullptr) return;
    for (Json::ArrayIndex i = 0; i < value.size(); ++i) {
      Check(value[i], *items, StrCat(path, "[", i, "]"));
    }
    CheckKeys(value, schema, path);
  }

  // The items of a set, or of a list with keys, must be unique.
  void CheckKeys(const Json::Value& value, const Json::Value& schema, const std::string& path) {
    const std::string list_type = StringAt(schema, "x-kubernetes-list-type");
    if (list_type != "map" && list_type != "set") return;
    std::vector<Json::Value> seen;
    for (Json::ArrayIndex i = 0; i < value.size(); ++i) {
      Json::Value key = value[i];
      if (list_type == "map" && value[i].isObject()) {
        key = Json::Value(Json::objectValue);
        for (const Json::Value& name : schema["x-kubernetes-list-map-keys"]) {
          key[name.asString()] = value[i][name.asString()];
        }
      }
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        causes_.push_back({"FieldValueDuplicate", StrCat("Duplicate value: ", WriteJson(key)),
                           StrCat(path, "[", i, "]")});
      }
      seen.push_back(std::move(key));
    }
  }

  std::vector<Cause>& causes_;
};

// The types of structured-merge-diff, which has one type for all numbers.
std::optional<std::string> FirstProblem(const Json::Value& value, const Json::Value& schema,
                                        const std::string& path, bool root) {
  const std::string wanted = StringAt(schema, "type");
  if (value.isNull()) return std::nullopt;
  const std::string_view type = TypeOf(value);
  const bool numeric = value.isNumeric() && (wanted == "integer" || wanted == "number");
  if (!wanted.empty() && wanted != type && !numeric) {
    return StrCat(path, ": expected ", wanted, ", got ", type);
  }
  if (value.isArray() && FindMember(schema, "items") != nullptr) {
    for (Json::ArrayIndex i = 0; i < value.size(); ++i) {
      if (auto found = FirstProblem(value[i], schema["items"], StrCat(path, "[", i, "]"), false)) {
        return found;
      }
    }
  }
  if (!value.isObject()) return std::nullopt;
  for (const std::string& name : value.getMemberNames()) {
    const Json::Value* member =
        root && IsTypeOrMetadata(name) ? nullptr : SchemaOfMember(schema, name);
    if (member == nullptr) continue;
    if (auto found = FirstProblem(value[name], *member, StrCat(path, ".", name), false))
      return found;
  }
  return std::nullopt;
}

// Calls `visit(object, schema, root)` for the value and each object in it that has a schema, outer
// ones first.
template <typename Visit>
void Walk(Json::Value& value, const Json::Value& schema, bool root, const Visit& visit) {
  if (value.isArray()) {
    const Json::Value* items = FindMember(schema, "items");
    if (items == nullptr) return;
    for (Json::Value& item : value) Walk(item, *items, false, visit);
    return;
  }
  if (!value.isObject()) return;
  visit(value, schema, root);
  for (const std::string& name : value.getMemberNames()) {
    if (root && IsTypeOrMetadata(name)) continue;
    const Json::Value* member = SchemaOfMember(schema, name);
    if (member != nullptr) Walk(value[name], *member, false, visit);
  }
}

void PruneObject(Json::Value& value, const Json::Value& schema, bool root) {
  if (FlagAt(schema, kPreserve)) return;
  for (const std::string& name : value.getMemberNames()) {
    if (root && IsTypeOrMetadata(name)) continue;
    if (SchemaOfMember(schema, name) == nullptr) value.removeMember(name);
  }
}

void DefaultObject(Json::Value& value, const Json::Value& schema, bool root) {
  for (const std::string& name : value.getMemberNames()) {
    if (root && IsTypeOrMetadata(name)) continue;
    const Json::Value* member = SchemaOfMember(schema, name);
    if (member == nullptr || !value[name].isNull() || FlagAt(*member, "nullable")) continue;
    // A null that is not allowed counts as absent.
    if (const Json::Value* fallback = FindMember(*member, "default")) value[name] = *fallback;
  }
  const Json::Value* properties = FindMember(schema, "properties");
  if (properties == nullptr) return;
  for (const std::string& name : properties->getMemberNames()) {
    const Json::Value* fallback = FindMember((*properties)[name], "default");
    if (fallback != nullptr && !value.isMember(name)) value[name] = *fallback;
  }
}

void DropNullsOf(Json::Value& value, const Json::Value& schema, bool root) {
  for (const std::string& name : value.getMemberNames()) {
    if (root && IsTypeOrMetadata(name)) continue;
    const Json::Value* member = SchemaOfMember(schema, name);
    if (member != nullptr && value[name].isNull() && !FlagAt(*member, "nullable") &&
        !member->isMember("default")) {
      value.removeMember(name);
    }
  }
}

}  // namespace

std::string Schema::UnknownKeyword() const { return FirstUnknown(definition_); }

std::vector<Cause> Schema::Validate(const Json::Value& object) const {
  std::vector<Cause> causes;
  Validator(&causes).CheckObject(object, definition_, "");
  return causes;
}

std::optional<std::string> Schema::TypeProblem(const Json::Value& object) const {
  return FirstProblem(object, definition_, "", /*root=*/true);
}

Json::Value Schema::Prune(const Json::Value& object) const {
  Json::Value out = object;
  Walk(out, definition_, /*root=*/true, PruneObject);
  return out;
}

Json::Value Schema::DropNulls(const Json::Value& object) const {
  Json::Value out = object;
  Walk(out, definition_, /*root=*/true, DropNullsOf);
  return out;
}

Json::Value Schema::PruneAndDefault(const Json::Value& object) const {
  Json::Value out = Prune(object);
  Walk(out, definition_, /*root=*/true, DefaultObject);
  return out;
}

}  // namespace mandate::apiserver
