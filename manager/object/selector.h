// Label selectors: from every form in which they are written, matched and printed in one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace k8s::io::apimachinery::pkg::apis::meta::v1 {
class LabelSelector;
}

namespace mandate {

// One condition on one label.
struct LabelRequirement {
  // kGreater and kLess compare integers; query parameters know them, LabelSelector objects do not.
  enum class Operator { kEquals, kNotEquals, kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };

  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values;  // sorted, without duplicates

  bool operator==(const LabelRequirement&) const = default;
};

// All of its requirements must hold; without any it matches everything. Immutable.
class LabelSelector {
 public:
  // The value of a label, or nullopt when the object lacks it.
  using Lookup = absl::FunctionRef<std::optional<std::string_view>(std::string_view key)>;

  LabelSelector() = default;  // everything

  // Makes a selector of these requirements. kInvalidArgument if the API server would reject a key,
  // an operator or a value.
  static absl::StatusOr<LabelSelector> Create(std::vector<LabelRequirement> requirements);

  // Errors below are kInvalidArgument and start with the field's path, `field` being the
  // selector's own, such as "spec.namespaceSelector".
  static absl::StatusOr<LabelSelector> FromMap(const std::map<std::string, std::string>& labels,
                                               std::string_view field = "selector");
  static absl::StatusOr<LabelSelector> FromProto(
      const k8s::io::apimachinery::pkg::apis::meta::v1::LabelSelector& selector,
      std::string_view field = "selector");

  // Either the plain map, {"app": "web"}, or {"matchLabels": …, "matchExpressions": …}. An object
  // that mixes the two is an error; so is one whose "matchLabels" is a plain string, which is
  // certainly a mistake. {} and null match everything, as they have no requirement.
  static absl::StatusOr<LabelSelector> FromJson(std::string_view json,
                                                std::string_view field = "selector");

  // kubectl's and the query parameter's syntax: "a=b,c in (x,y),d notin (z),e!=f,g,!h,n>4,m<5".
  static absl::StatusOr<LabelSelector> Parse(std::string_view text);

  // The inverse of Parse, requirements sorted by key; "" matches everything.
  std::string ToString() const;

  bool MatchesLabels(Lookup label) const;
  // Matches the labels of a map of strings: std::map, google::protobuf::Map.
  template <class Map>
  bool Matches(const Map& labels) const {
    return MatchesLabels([&](std::string_view key) -> std::optional<std::string_view> {
      auto found = labels.find(std::string(key));
      if (found == labels.end()) return std::nullopt;
      return found->second;
    });
  }

  // Whether each of its requirements is also one of `narrower`: then it matches all that `narrower`
  // matches.
  bool Includes(const LabelSelector& narrower) const;

  bool MatchesEverything() const { return requirements_.empty(); }
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }
  bool operator==(const LabelSelector&) const = default;

 private:
  std::vector<LabelRequirement> requirements_;
};

}  // namespace mandate
