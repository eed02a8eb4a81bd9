#include "rbacgen/emit/crd/value_check.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/mandate/options.pb.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using mandate::api::Schema;

std::string_view TypeOf(const Json::Value& value) {
  switch (value.type()) {
    case Json::nullValue:
      return "null";
    case Json::intValue:
    case Json::uintValue:
      return "integer";
    case Json::realValue:
      return "number";
    case Json::stringValue:
      return "string";
    case Json::booleanValue:
      return "boolean";
    case Json::arrayValue:
      return "array";
    case Json::objectValue:
      break;
  }
  return "object";
}

int64_t CharactersOf(const std::string& text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

class ValueChecker {
 public:
  std::vector<std::string> Run(const Json::Value& value, const SchemaNode& node) {
    Check(value, node, "");
    return std::move(mistakes_);
  }

 private:
  template <class... Parts>
  void Mistake(const std::string& path, const Parts&... parts) {
    mistakes_.push_back(StrCat(path.empty() ? "" : " ", path, ": ", parts...));
  }

  void Check(const Json::Value& value, const SchemaNode& node, const std::string& path) {
    const std::string_view type = TypeOf(value);
    if (value.isNull()) {
      if (!node.keywords.contains("nullable")) Mistake(path, "is null, but nullable is not set");
      return;
    }
    if (node.int_or_string ? type != "integer" && type != "string"
                           : !node.type.empty() && type != node.type) {
      return Mistake(path, "is JSON of type ", type, "; the field's type is ",
                     node.int_or_string ? "integer or string" : node.type);
    }
    if (value.isUInt64() && !value.isInt64()) Mistake(path, "is too large for an int64");
    for (const Schema& limits : node.limits) {
      if (value.isString()) Text(value.asString(), limits, path);
      if (value.isInt64()) Number(value.asInt64(), limits, path);
      if (value.isArray()) {
        Count(value.size(), limits.has_minitems(), limits.minitems(), limits.has_maxitems(),
              limits.maxitems(), "items", path);
      }
      if (value.isObject()) {
        Count(value.size(), limits.has_minproperties(), limits.minproperties(),
              limits.has_maxproperties(), limits.maxproperties(), "properties", path);
      }
    }
    if (value.isArray()) Items(value, node, path);
    if (value.isObject()) Members(value, node, path);
  }

  void Count(int64_t count, bool has_min, int64_t min, bool has_max, int64_t max,
             std::string_view what, const std::string& path) {
    if (has_min && count < min) Mistake(path, "has ", count, " ", what, ", fewer than ", min);
    if (has_max && count > max) Mistake(path, "has ", count, " ", what, ", more than ", max);
  }

  void Text(const std::string& text, const Schema& limits, const std::string& path) {
    Count(CharactersOf(text), limits.has_minlength(), limits.minlength(), limits.has_maxlength(),
          limits.maxlength(), "characters", path);
    if (limits.has_pattern()) {
      const RE2 pattern(limits.pattern(), RE2::Quiet);
      if (pattern.ok() && !RE2::PartialMatch(text, pattern)) {
        Mistake(path, "does not match pattern ", Quoted(limits.pattern()));
      }
    }
    if (limits.enum__size() > 0 && std::ranges::count(limits.enum_(), text) == 0) {
      Mistake(path, "is not in enum");
    }
  }

  void Number(int64_t number, const Schema& limits, const std::string& path) {
    if (limits.has_minimum() &&
        (number < limits.minimum() || (limits.exclusiveminimum() && number == limits.minimum()))) {
      Mistake(path, "is not within minimum ", limits.minimum());
    }
    if (limits.has_maximum() &&
        (number > limits.maximum() || (limits.exclusivemaximum() && number == limits.maximum()))) {
      Mistake(path, "is not within maximum ", limits.maximum());
    }
    if (limits.multipleof() > 0 && number % limits.multipleof() != 0) {
      Mistake(path, "is not a multiple of ", limits.multipleof());
    }
    if (limits.enum__size() > 0 && std::ranges::count(limits.enum_(), StrCat(number)) == 0) {
      Mistake(path, "is not in enum");
    }
  }

  void Items(const Json::Value& list, const SchemaNode& node, const std::string& path) {
    std::set<Json::Value> seen;
    const auto is_set = [](const Schema& limits) { return limits.listtype() == "set"; };
    const bool once = std::ranges::any_of(node.limits, is_set);
    for (Json::ArrayIndex i = 0; i < list.size(); ++i) {
      const std::string here = StrCat(path, "[", i, "]");
      if (!node.items.empty()) Check(list[i], node.items.front(), here);
      if (once && !seen.insert(list[i]).second) Mistake(here, "is a duplicate");
    }
  }

  void Members(const Json::Value& object, const SchemaNode& node, const std::string& path) {
    const bool holds_any = node.keywords.contains("x-kubernetes-preserve-unknown-fields") ||
                           node.keywords.contains("x-kubernetes-embedded-resource") ||
                           node.type.empty();
    for (const std::string& name : object.getMemberNames()) {
      const std::string here = StrCat(path, ".", name);
      if (const auto property = node.properties.find(name); property != node.properties.end()) {
        Check(object[name], property->second, here);
      } else if (!node.values.empty()) {
        Check(object[name], node.values.front(), here);
      } else if (!holds_any) {
        Mistake(path, NoProperty(node, name));
      }
    }
    for (const std::string& name : node.required) {
      if (!object.isMember(name)) Mistake(StrCat(path, ".", name), "is required");
    }
  }

  std::vector<std::string> mistakes_;
};

}  // namespace

std::vector<std::string> CheckValue(const Json::Value& value, const SchemaNode& node) {
  return ValueChecker().Run(value, node);
}

bool IsKnownFormat(std::string_view format, std::string_view type) {
  static const auto& of_strings = *new std::set<std::string, std::less<>>{
      "bsonobjectid", "uri",        "email",    "hostname",     "ipv4",       "ipv6", "cidr",
      "mac",          "uuid",       "uuid3",    "uuid4",        "uuid5",      "isbn", "isbn10",
      "isbn13",       "creditcard", "ssn",      "hexcolor",     "rgbcolor",   "byte", "password",
      "date",         "duration",   "datetime", "k8sshortname", "k8slongname"};
  if (type == "integer") return format == "int32" || format == "int64";
  std::string plain(format);
  std::erase(plain, '-');
  return of_strings.contains(plain);
}

}  // namespace mandate::rbacgen
