#include "rbacgen/emit/crd/keywords.h"

#include <re2/re2.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "rbacgen/emit/crd/rules.h"
#include "rbacgen/emit/crd/value_check.h"
#include "rbacgen/markers/text.h"
#include "rbacgen/yaml/json_yaml.h"

namespace mandate::rbacgen {
namespace {

using mandate::api::Schema;

Yaml Number(int64_t number) { return Yaml::Verbatim(StrCat(number)); }
Yaml True() { return Yaml::Verbatim("true"); }

class Applier {
 public:
  Applier(const Schema& options, SchemaNode* node) : options_(options), node_(*node) {}

  std::vector<std::string> Run() {
    General();
    Text();
    Numbers();
    Lists();
    Objects();
    AddRules(options_, &node_, &mistakes_);
    node_.limits.push_back(options_);
    Value(options_.has_default_(), "default", options_.default_());
    Value(options_.has_example(), "example", options_.example());
    return std::move(mistakes_);
  }

 private:
  template <class... Parts>
  void Mistake(const Parts&... parts) {
    mistakes_.push_back(StrCat(parts...));
  }

  std::string Type() const {
    if (node_.int_or_string) return "a number or string";
    if (node_.type.empty()) return "any value";
    return (node_.type == "string" || node_.type == "boolean" ? "a " : "an ") + node_.type;
  }

  // Whether the option is set and fits the type; reports a mistake if it is set but does not fit.
  bool Wants(bool is_set, std::string_view option, bool fits, std::string_view kind) {
    if (is_set && !fits) Mistake(option, " is for ", kind, "; this is ", Type());
    return is_set && fits;
  }

  void Set(std::string_view keyword, Yaml value) {
    node_.keywords[std::string(keyword)] = std::move(value);
  }

  // Sets the minimum and the maximum count.
  void Counts(bool has_min, int64_t min, bool has_max, int64_t max, std::string_view what,
              bool fits, std::string_view kind) {
    const std::string low = StrCat("min", what);
    const std::string high = StrCat("max", what);
    if (Wants(has_min, low, fits, kind)) Set(low, Number(min));
    if (Wants(has_max, high, fits, kind)) Set(high, Number(max));
    if ((has_min && min < 0) || (has_max && max < 0))
      Mistake(low, " and ", high, " must be 0 or more");
    if (has_min && has_max && min > max) {
      Mistake(low, " ", min, " is more than ", high, " ", max, ": no value would be valid");
    }
  }

  // Sets an option whose value is JSON; the value must be valid by all other options.
  void Value(bool is_set, std::string_view option, const std::string& text) {
    if (!is_set) return;
    const auto value = ParseJson(text);
    if (!value.ok()) {
      return Mistake(option, " ", Quoted(text), ": ", AsStd(value.status().message()));
    }
    for (const std::string& mistake : CheckValue(*value, node_)) {
      Mistake(option, " ", Quoted(text), mistake);
    }
    Set(option, JsonAsYaml(*value));
  }

  // Replaces the schema of the field's type.
  void Untyped() {
    if (!options_.schemaless()) {
      if (options_.has_type())
        Mistake("the field already defines type; to set another, add schemaless");
      if (options_.has_intorstring()) {
        Mistake("intOrString needs schemaless; a field of type IntOrString needs neither");
      }
      if (options_.has_verbatim())
        Mistake("verbatim replaces the field's own type: add schemaless");
      return;
    }
    SchemaNode bare;
    bare.description = std::move(node_.description);
    bare.int_or_string = options_.intorstring();
    if (options_.has_type()) {
      if (bare.int_or_string) Mistake("type and intOrString contradict each other");
      bare.type = options_.type();
      if (bare.type != "string" && bare.type != "integer" && bare.type != "boolean" &&
          bare.type != "object") {
        Mistake("type ", Quoted(bare.type), " must be one of string, integer, boolean, object");
      }
    }
    node_ = std::move(bare);
    if (options_.has_verbatim()) Verbatim();
  }

  void Verbatim() {
    if (options_.has_type() || options_.intorstring()) {
      Mistake("verbatim contradicts type and intOrString: write them in verbatim");
    }
    const auto schema = ParseJson(options_.verbatim());
    if (!schema.ok()) {
      return Mistake("verbatim ", Quoted(options_.verbatim()), ": ",
                     AsStd(schema.status().message()));
    }
    if (!schema->isObject()) return Mistake("verbatim is not a JSON object");
    for (const std::string& keyword : schema->getMemberNames()) {
      const Json::Value& value = (*schema)[keyword];
      if (keyword == "type" && value.isString()) {
        node_.type = value.asString();
      } else {
        Set(keyword, JsonAsYaml(value));
      }
    }
  }

  void General() {
    Untyped();
    if (options_.has_title()) Set("title", options_.title());
    if (options_.nullable()) Set("nullable", True());
    if (options_.has_externaldocs()) {
      Yaml::Map docs = {{"url", options_.externaldocs().url()}};
      if (options_.externaldocs().url().empty()) Mistake("externalDocs has no url");
      if (options_.externaldocs().has_description()) {
        docs["description"] = options_.externaldocs().description();
      }
      Set("externalDocs", std::move(docs));
    }
    Enum();
  }

  void Enum() {
    if (!Wants(options_.enum__size() > 0, "enum", node_.IsScalar() && node_.type != "boolean",
               "a string or integer")) {
      return;
    }
    Yaml::List values;
    std::set<std::string> seen;
    for (const std::string& value : options_.enum_()) {
      if (!seen.insert(value).second) Mistake("enum contains ", Quoted(value), " twice");
      int64_t number = 0;
      if (node_.type != "integer") {
        values.emplace_back(value);
      } else if (absl::SimpleAtoi(value, &number)) {
        values.push_back(Number(number));
      } else {
        Mistake("enum ", Quoted(value), " is not an integer, but the field is");
      }
    }
    Set("enum", std::move(values));
  }

  void Text() {
    const bool fits = node_.type == "string" || node_.int_or_string;
    Counts(options_.has_minlength(), options_.minlength(), options_.has_maxlength(),
           options_.maxlength(), "Length", fits, "a string");
    if (Wants(options_.has_pattern(), "pattern", fits, "a string")) {
      if (options_.pattern().empty()) Mistake("pattern is empty: every string would match");
      const RE2 pattern(options_.pattern(), RE2::Quiet);
      if (!pattern.ok()) {
        Mistake("pattern ", Quoted(options_.pattern()),
                " is not a valid RE2 expression: ", pattern.error());
      }
      Set("pattern", options_.pattern());
    }
    if (Wants(options_.has_format(), "format", fits || node_.type == "integer",
              "a string or integer")) {
      if (!IsKnownFormat(options_.format(), node_.type)) {
        Mistake("format ", Quoted(options_.format()), " is unknown to the API server",
                ": it would check nothing; use pattern");
      }
      Set("format", options_.format());
    }
  }

  void Numbers() {
    const bool fits = node_.type == "integer" || node_.int_or_string;
    const auto number = [&](bool is_set, std::string_view option, int64_t value) {
      if (Wants(is_set, option, fits, "an integer")) Set(option, Number(value));
    };
    number(options_.has_minimum(), "minimum", options_.minimum());
    number(options_.has_maximum(), "maximum", options_.maximum());
    number(options_.has_multipleof(), "multipleOf", options_.multipleof());
    if (options_.has_multipleof() && options_.multipleof() < 1) {
      Mistake("multipleOf must be 1 or more");
    }
    if (options_.has_minimum() && options_.has_maximum() &&
        options_.minimum() > options_.maximum()) {
      Mistake("minimum ", options_.minimum(), " is more than maximum ", options_.maximum(),
              ": no value would be valid");
    }
    const auto exclusive = [&](bool is_set, std::string_view option, bool has_bound,
                               std::string_view bound) {
      if (!is_set) return;
      if (!has_bound)
        Mistake(option, " excludes the value of ", bound, ", which is not set: set ", bound);
      Set(option, True());
    };
    exclusive(options_.exclusiveminimum(), "exclusiveMinimum", options_.has_minimum(), "minimum");
    exclusive(options_.exclusivemaximum(), "exclusiveMaximum", options_.has_maximum(), "maximum");
  }

  void Lists() {
    const bool fits = node_.type == "array";
    if (options_.has_uniqueitems()) {
      Mistake("the API server rejects uniqueItems, because the check takes too long: use ",
              "listType: \"set\", or \"map\" with listMapKeys");
    }
    Counts(options_.has_minitems(), options_.minitems(), options_.has_maxitems(),
           options_.maxitems(), "Items", fits, "a list");
    if (Wants(options_.has_items(), "items", fits && !node_.items.empty(), "a list")) {
      Nested(options_.items(), "items", &node_.items.front());
    }
    if (Wants(options_.has_listtype(), "listType", fits && !node_.items.empty(), "a list")) {
      ListType(node_.items.front());
    }
    if (options_.listmapkeys_size() > 0 && options_.listtype() != "map") {
      Mistake("listMapKeys needs listType: \"map\"");
    }
  }

  void ListType(const SchemaNode& item) {
    const std::string& type = options_.listtype();
    Set("x-kubernetes-list-type", type);
    if (type == "atomic") return;
    if (type == "set") {
      // The API server would accept a definition with a set of atomic objects, but then reject each
      // apply.
      if (!item.IsScalar()) {
        Mistake(
            "listType: \"set\" needs scalar items, because server-side apply cannot merge a set of "
            "objects; ",
            "use map with listMapKeys");
      }
      return;
    }
    if (type != "map") {
      Mistake("listType ", Quoted(type), " must be one of map, set, atomic");
      return;
    }
    if (item.type != "object") {
      Mistake("listType: \"map\" needs a list of objects; use set");
      return;
    }
    if (options_.listmapkeys_size() == 0) {
      Mistake("listType: \"map\" needs listMapKeys: the fields that identify an item");
      return;
    }
    for (const std::string& key : options_.listmapkeys()) ListMapKey(item, key);
    Set("x-kubernetes-list-map-keys",
        Yaml::List(options_.listmapkeys().begin(), options_.listmapkeys().end()));
  }

  void ListMapKey(const SchemaNode& item, const std::string& key) {
    const auto property = item.properties.find(key);
    if (property == item.properties.end()) {
      Mistake("listMapKeys: ", NoProperty(item, key));
    } else if (!property->second.IsScalar()) {
      Mistake("listMapKeys ", Quoted(key), " is not a scalar field");
    } else if (!item.required.contains(key) && !property->second.keywords.contains("default")) {
      Mistake("listMapKeys ", Quoted(key), " must be required in the items, or have a default");
    }
  }

  void Objects() {
    const bool fits = node_.type == "object";
    Counts(options_.has_minproperties(), options_.minproperties(), options_.has_maxproperties(),
           options_.maxproperties(), "Properties", fits, "an object or map");
    if (Wants(options_.has_values(), "values", !node_.values.empty(), "a map")) {
      Nested(options_.values(), "values", &node_.values.front());
    }
    if (Wants(options_.has_maptype(), "mapType", fits, "an object or map")) {
      if (options_.maptype() != "granular" && options_.maptype() != "atomic") {
        Mistake("mapType ", Quoted(options_.maptype()), " must be one of granular, atomic");
      }
      Set("x-kubernetes-map-type", options_.maptype());
    }
    const bool any = fits || (node_.type.empty() && !node_.int_or_string);
    if (Wants(options_.preserveunknownfields(), "preserveUnknownFields", any, "an object")) {
      Set("x-kubernetes-preserve-unknown-fields", True());
    }
    if (Wants(options_.embeddedresource(), "embeddedResource", fits, "an object")) {
      Set("x-kubernetes-embedded-resource", True());
    }
  }

  void Nested(const Schema& options, std::string_view name, SchemaNode* node) {
    if (options.has_required()) Mistake(name, " { required } has no effect");
    for (const std::string& mistake : ApplySchema(options, node)) Mistake(name, ": ", mistake);
  }

  const Schema& options_;
  SchemaNode& node_;
  std::vector<std::string> mistakes_;
};

}  // namespace

std::vector<std::string> ApplySchema(const Schema& options, SchemaNode* node) {
  return Applier(options, node).Run();
}

}  // namespace mandate::rbacgen
