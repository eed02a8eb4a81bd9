#include "manager/object/selector.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_cursor.h"
#include "manager/object/names.h"

namespace mandate {
namespace {

using Operator = LabelRequirement::Operator;
using Token = JsonCursor::Token;
using SelectorProto = k8s::io::apimachinery::pkg::apis::meta::v1::LabelSelector;

constexpr std::string_view kMatchLabels = "matchLabels";
constexpr std::string_view kMatchExpressions = "matchExpressions";

absl::Status Error(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(field, ": ", what));
}

absl::Status Within(std::string_view field, const absl::Status& status) {
  return status.ok() ? status : Error(field, AsStd(status.message()));
}

bool IsInteger(std::string_view text, int64_t* number) {
  return absl::SimpleAtoi(AsAbsl(text), number);
}

absl::Status Check(const LabelRequirement& requirement) {
  RETURN_IF_ERROR(Within("key", CheckLabelKey(requirement.key)));
  const size_t values = requirement.values.size();
  switch (requirement.op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values == 0) return Error("values", "operators In and NotIn need at least one value");
      break;
    case Operator::kEquals:
    case Operator::kNotEquals:
      if (values != 1) return Error("values", "operators = and != need exactly one value");
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (values != 0) return Error("values", "operators Exists and DoesNotExist take no values");
      break;
    case Operator::kGreater:
    case Operator::kLess:
      if (int64_t unused; values != 1 || !IsInteger(requirement.values[0], &unused)) {
        return Error("values", "operators > and < need exactly one integer");
      }
      break;
  }
  for (size_t i = 0; i < values; ++i) {
    RETURN_IF_ERROR(Within(StrCat("values[", i, "]"), CheckLabelValue(requirement.values[i])));
  }
  return absl::OkStatus();
}

absl::StatusOr<Operator> OperatorOf(std::string_view text) {
  if (text == "In") return Operator::kIn;
  if (text == "NotIn") return Operator::kNotIn;
  if (text == "Exists") return Operator::kExists;
  if (text == "DoesNotExist") return Operator::kDoesNotExist;
  return Error("operator", StrCat("\"", text, "\" must be one of In, NotIn, Exists, DoesNotExist"));
}

bool Holds(const LabelRequirement& requirement, std::optional<std::string_view> value) {
  const auto among = [&] {
    return value.has_value() &&
           std::binary_search(requirement.values.begin(), requirement.values.end(), *value);
  };
  switch (requirement.op) {
    case Operator::kEquals:
    case Operator::kIn:
      return among();
    case Operator::kNotEquals:
    case Operator::kNotIn:
      return !among();  // an object without the label matches, too
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value.has_value();
    case Operator::kGreater:
    case Operator::kLess: {
      // A value that is not a number satisfies neither Gt nor Lt.
      int64_t number = 0, than = 0;
      if (!value.has_value() || !IsInteger(*value, &number) ||
          !IsInteger(requirement.values.front(), &than)) {
        return false;
      }
      return requirement.op == Operator::kGreater ? number > than : number < than;
    }
  }
  return false;
}

// A list with only the empty value is written as ",".
std::string List(const std::vector<std::string>& values) {
  return values.size() == 1 && values[0].empty() ? "," : absl::StrJoin(values, ",");
}

std::string Text(const LabelRequirement& r) {
  switch (r.op) {
    case Operator::kEquals:
      return StrCat(r.key, "=", r.values.front());
    case Operator::kNotEquals:
      return StrCat(r.key, "!=", r.values.front());
    case Operator::kIn:
      return StrCat(r.key, " in (", List(r.values), ")");
    case Operator::kNotIn:
      return StrCat(r.key, " notin (", List(r.values), ")");
    case Operator::kExists:
      return r.key;
    case Operator::kDoesNotExist:
      return StrCat("!", r.key);
    case Operator::kGreater:
      return StrCat(r.key, ">", r.values.front());
    case Operator::kLess:
      return StrCat(r.key, "<", r.values.front());
  }
  return "";
}

// Reads the selector as a plain map; the cursor is at the start of its object.
absl::StatusOr<std::map<std::string, std::string>> ReadMap(JsonCursor& json,
                                                           std::string_view field) {
  std::map<std::string, std::string> labels;
  std::string_view key;
  for (json.BeginObject(); json.NextMember(&key);) {
    const Token token = json.Peek();
    std::string_view value;
    if (token != Token::kString) {
      if (!json.SkipValue()) break;
      return Error(StrCat(field, "[", key, "]"),
                   StrCat("expected a string, got ", JsonCursor::Describe(token)));
    }
    if (json.ReadString(&value) && !labels.emplace(key, value).second) {
      return Error(StrCat(field, "[", key, "]"), "duplicate field");
    }
  }
  RETURN_IF_ERROR(Within(field, json.Finish()));
  return labels;
}

enum class Form { kMap, kStructured };

// Determines which of the two forms the JSON object has.
absl::StatusOr<Form> FormOf(std::string_view text, std::string_view field) {
  JsonCursor json(text);
  bool structured = false;
  std::string other;
  std::string_view key;
  for (json.BeginObject(); json.NextMember(&key);) {
    const Token token = json.Peek();
    if (key == kMatchLabels || key == kMatchExpressions) {
      if (token == Token::kString) {
        return Error(
            StrCat(field, ".", key),
            StrCat("expected ", key == kMatchLabels ? "an object" : "an array", ", got a string"));
      }
      structured = true;
    } else {
      other = key;
    }
    json.SkipValue();
  }
  RETURN_IF_ERROR(Within(field, json.Finish()));
  if (structured && !other.empty()) {
    return Error(field, StrCat("mixes ", kMatchLabels, " or ", kMatchExpressions,
                               " with the label \"", other, "\"; move the label into matchLabels"));
  }
  return structured ? Form::kStructured : Form::kMap;
}

}  // namespace

absl::StatusOr<LabelSelector> LabelSelector::Create(std::vector<LabelRequirement> requirements) {
  for (LabelRequirement& requirement : requirements) {
    RETURN_IF_ERROR(Check(requirement));
    auto& values = requirement.values;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  LabelSelector selector;
  selector.requirements_ = std::move(requirements);
  return selector;
}

absl::StatusOr<LabelSelector> LabelSelector::FromMap(
    const std::map<std::string, std::string>& labels, std::string_view field) {
  std::vector<LabelRequirement> requirements;
  for (const auto& [key, value] : labels) {
    RETURN_IF_ERROR(Within(field, CheckLabelKey(key)));
    RETURN_IF_ERROR(Within(StrCat(field, "[", key, "]"), CheckLabelValue(value)));
    requirements.push_back({key, Operator::kEquals, {value}});
  }
  return Create(std::move(requirements));
}

absl::StatusOr<LabelSelector> LabelSelector::FromProto(const SelectorProto& selector,
                                                       std::string_view field) {
  const std::map<std::string, std::string> labels(selector.matchlabels().begin(),
                                                  selector.matchlabels().end());
  ASSIGN_OR_RETURN(LabelSelector map, FromMap(labels, StrCat(field, ".", kMatchLabels)));
  std::vector<LabelRequirement> requirements = std::move(map.requirements_);
  for (int i = 0; i < selector.matchexpressions_size(); ++i) {
    const auto& expression = selector.matchexpressions(i);
    const std::string path = StrCat(field, ".", kMatchExpressions, "[", i, "]");
    const absl::StatusOr<Operator> op = OperatorOf(expression.operator_());
    if (!op.ok()) return absl::InvalidArgumentError(StrCat(path, ".", op.status().message()));
    LabelRequirement& requirement = requirements.emplace_back();
    requirement = {expression.key(), *op, {expression.values().begin(), expression.values().end()}};
    if (absl::Status status = Check(requirement); !status.ok()) {
      return absl::InvalidArgumentError(StrCat(path, ".", status.message()));
    }
  }
  return Create(std::move(requirements));
}

absl::StatusOr<LabelSelector> LabelSelector::FromJson(std::string_view text,
                                                      std::string_view field) {
  JsonCursor json(text);
  if (json.Peek() == Token::kNull) {
    json.ReadNull();
    RETURN_IF_ERROR(Within(field, json.Finish()));
    return LabelSelector();
  }
  if (json.Peek() != Token::kObject) {
    const std::string_view found = JsonCursor::Describe(json.Peek());
    json.SkipValue();
    RETURN_IF_ERROR(Within(field, json.Finish()));
    return Error(field, StrCat("expected an object, got ", found));
  }
  ASSIGN_OR_RETURN(const Form form, FormOf(text, field));
  if (form == Form::kMap) {
    ASSIGN_OR_RETURN(const auto labels, ReadMap(json, field));
    return FromMap(labels, field);
  }
  SelectorProto selector;
  const absl::Status status = mandate::FromJson(text, selector, {.strict = true});
  if (!status.ok()) {
    return absl::InvalidArgumentError(StrCat(field, ".", status.message()));
  }
  return FromProto(selector, field);
}

std::string LabelSelector::ToString() const {
  return absl::StrJoin(requirements_, ",", [](std::string* out, const LabelRequirement& r) {
    StrAppend(out, Text(r));
  });
}

bool LabelSelector::Includes(const LabelSelector& narrower) const {
  return std::ranges::all_of(requirements_, [&](const LabelRequirement& requirement) {
    return std::ranges::find(narrower.requirements_, requirement) != narrower.requirements_.end();
  });
}

bool LabelSelector::MatchesLabels(Lookup label) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const LabelRequirement& r) { return Holds(r, label(r.key)); });
}

}  // namespace mandate
