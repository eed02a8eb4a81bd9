#include "rbacgen/emit/crd/rules.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using mandate::api::FieldSet;
using mandate::api::Rule;
using mandate::api::Schema;

constexpr std::string_view kReasons[] = {"FieldValueInvalid", "FieldValueForbidden",
                                         "FieldValueRequired", "FieldValueDuplicate"};

constexpr std::string_view kCelKeywords[] = {
    "true",     "false", "null",    "in",        "as",       "break", "const",
    "continue", "else",  "for",     "if",        "function", "let",   "import",
    "var",      "loop",  "package", "namespace", "return",   "void",  "while"};

Yaml::Map RuleYaml(std::string rule, std::string message) {
  return {{"message", std::move(message)}, {"rule", std::move(rule)}};
}

void AddRule(const Rule& rule, SchemaNode* node, std::vector<std::string>* mistakes) {
  if (rule.rule().find_first_not_of(" \n\t") == std::string::npos) {
    mistakes->push_back("a validation has no rule: the CEL expression that must be true");
    return;
  }
  Yaml::Map map = {{"rule", rule.rule()}};
  const bool explained = rule.has_message() || rule.has_messageexpression();
  if (rule.rule().find('\n') != std::string::npos && !explained) {
    mistakes->push_back("a rule of several lines needs a message");
  }
  if (rule.has_message()) {
    if (rule.message().empty() || rule.message().find('\n') != std::string::npos) {
      mistakes->push_back(
          StrCat("message ", Quoted(rule.message()), " of a rule must be one line of text"));
    }
    map["message"] = rule.message();
  }
  if (rule.has_messageexpression()) map["messageExpression"] = rule.messageexpression();
  if (rule.has_reason()) {
    if (std::ranges::find(kReasons, rule.reason()) == std::end(kReasons)) {
      mistakes->push_back(StrCat("reason ", Quoted(rule.reason()), " must be one of ",
                                 absl::StrJoin(kReasons, ", ", [](std::string* out, auto reason) {
                                   out->append(reason);
                                 })));
    }
    map["reason"] = rule.reason();
  }
  if (rule.has_fieldpath()) {
    if (!rule.fieldpath().starts_with('.') && !rule.fieldpath().starts_with('[')) {
      mistakes->push_back(
          StrCat("fieldPath ", Quoted(rule.fieldpath()), " must be a path such as .name"));
    } else if (rule.fieldpath().starts_with(".metadata")) {
      mistakes->push_back(StrCat("fieldPath ", rule.fieldpath(),
                                 " is not supported: the API server rejects paths in metadata"));
    } else if (const std::string why = MissingStep(*node, rule.fieldpath()); !why.empty()) {
      mistakes->push_back(StrCat("fieldPath ", rule.fieldpath(), " does not exist: ", why));
    }
    map["fieldPath"] = rule.fieldpath();
  }
  if (rule.has_optionaloldself()) {
    map["optionalOldSelf"] = Yaml::Verbatim(rule.optionaloldself() ? "true" : "false");
  }
  node->rules.emplace_back(std::move(map));
}

bool Says(const SchemaNode& node, const char* keyword, std::string_view value) {
  const auto found = node.keywords.find(keyword);
  return found != node.keywords.end() && found->second.text() == value;
}

// `known`: whether the server can find the old value of this node.
void CheckTransitions(const SchemaNode& node, bool known, const Place& above,
                      Diagnostics* diagnostics) {
  const Place& place = node.place.file.empty() ? above : node.place;
  for (const Yaml& rule : node.rules) {
    if (known || rule["rule"].text().find("oldSelf") == std::string::npos) continue;
    diagnostics->Error(
        place,
        "immutable and rules with oldSelf are not supported here: the API server has no old "
        "value for fields under mapType \"atomic\", or for list items unless the list has listType "
        "\"map\"");
  }
  const bool fields_known = known && !Says(node, "x-kubernetes-map-type", "atomic");
  const bool items_known = known && Says(node, "x-kubernetes-list-type", "map");
  for (const auto& [name, property] : node.properties) {
    CheckTransitions(property, fields_known, place, diagnostics);
  }
  for (const SchemaNode& value : node.values) CheckTransitions(value, known, place, diagnostics);
  for (const SchemaNode& item : node.items) CheckTransitions(item, items_known, place, diagnostics);
}

}  // namespace

std::string CelName(std::string_view field) {
  if (std::ranges::find(kCelKeywords, field) != std::end(kCelKeywords)) {
    return StrCat("__", field, "__");
  }
  return absl::StrReplaceAll(
      AsAbsl(field),
      {{"__", "__underscores__"}, {".", "__dot__"}, {"-", "__dash__"}, {"/", "__slash__"}});
}

void AddOneOf(OneOf kind, const std::vector<std::string>& fields, SchemaNode* node,
              std::vector<std::string>* mistakes) {
  static constexpr struct {
    std::string_view option;
    std::string_view words;
    std::string_view test;
    size_t least;  // the minimum number of fields
  } kKinds[] = {
      {"exactlyOneOf", "exactly one", "== 1", 2},
      {"atMostOneOf", "at most one", "<= 1", 2},
      {"atLeastOneOf", "at least one", ">= 1", 1},
  };
  const auto& words = kKinds[static_cast<int>(kind)];
  if (fields.size() < words.least) {
    mistakes->push_back(StrCat(
        words.option, words.least == 1 ? " names no field" : " names fewer than two fields"));
    return;
  }
  std::string sum;
  for (const std::string& field : fields) {
    if (!node->properties.contains(field)) {
      mistakes->push_back(StrCat(words.option, ": ", NoProperty(*node, field)));
    } else if (node->required.contains(field)) {
      mistakes->push_back(
          StrCat(words.option, " names ", Quoted(field), ", which is required and so always set"));
    }
    if (!sum.empty()) sum += " + ";
    sum += StrCat("(has(self.", CelName(field), ") ? 1 : 0)");
  }
  node->rules.emplace_back(
      RuleYaml(StrCat(sum, " ", words.test),
               StrCat(words.words, " of ", absl::StrJoin(fields, ", "), " must be set")));
}

void AddRules(const Schema& options, SchemaNode* node, std::vector<std::string>* mistakes) {
  for (const Rule& rule : options.validations()) AddRule(rule, node, mistakes);
  if (options.immutable()) {
    node->rules.emplace_back(RuleYaml("self == oldSelf", "is immutable"));
  }
  const auto one_of = [&](OneOf kind, const auto& sets) {
    for (const FieldSet& set : sets) {
      AddOneOf(kind, {set.fields().begin(), set.fields().end()}, node, mistakes);
    }
  };
  one_of(OneOf::kExactly, options.exactlyoneof());
  one_of(OneOf::kAtMost, options.atmostoneof());
  one_of(OneOf::kAtLeast, options.atleastoneof());
}

void CheckTransitions(const SchemaNode& root, Diagnostics* diagnostics) {
  CheckTransitions(root, /*known=*/true, root.place, diagnostics);
}

void AddStaysSet(const std::string& field, SchemaNode* node) {
  const std::string name = CelName(field);
  node->rules.emplace_back(
      RuleYaml(StrCat("!has(oldSelf.", name, ") || has(self.", name, ")"),
               StrCat(field, " is immutable and cannot be removed once it is set")));
}

}  // namespace mandate::rbacgen
