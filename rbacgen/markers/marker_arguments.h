// The arguments of a marker, in the grammar of controller-gen v0.23 (its pkg/markers):
//
//   arguments = name "=" value { "," name "=" value }
//   string    = "Go string" | `raw` | bare text up to , ; }
//   strings   = "{" [ string { "," string } ] "}" | [ string { ";" string } [ ";" ] ]
//
// This is stricter than controller-gen, which reads some mistakes as another value: an empty item,
// a missing value before a comma, and a blank between bare text and its delimiter are errors
// (controller-gen reads "get ;list" as an empty string).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

// A marker, split as controller-gen does: "a:b:c=x" is the marker a:b with the arguments "c=x".
// Borrows the text.
struct Marker {
  std::string_view name;
  std::string_view arguments;
};

// Splits a marker, given without its "+".
Marker SplitMarker(std::string_view text);

enum class ArgumentType { kString, kStrings, kInt, kBool };

struct ArgumentSpec {
  std::string_view name;
  ArgumentType type = ArgumentType::kString;
  bool required = false;
};

enum class Repeated { kLastWins, kIsError };

// The values that were given, by name. Immutable once parsed. Borrows the specs' names.
class Arguments {
 public:
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The value, or an empty one if it was not given. The type must be that of the spec.
  std::string String(std::string_view name) const { return Get<std::string>(name); }
  std::vector<std::string> Strings(std::string_view name) const {
    return Get<std::vector<std::string>>(name);
  }
  int64_t Int(std::string_view name) const { return Get<int64_t>(name); }
  bool Bool(std::string_view name) const { return Get<bool>(name); }
  // The arguments that were given more than once, if that is allowed.
  const std::vector<std::string>& repeated() const { return repeated_; }

 private:
  friend class ArgumentParser;
  using Value = std::variant<std::string, std::vector<std::string>, int64_t, bool>;

  template <class T>
  T Get(std::string_view name) const {
    const Value* found = Find(name);
    return found == nullptr ? T() : std::get<T>(*found);
  }
  // There are only a few values, so a linear search is faster than an index.
  const Value* Find(std::string_view name) const {
    for (const auto& [known, value] : values_) {
      if (known == name) return &value;
    }
    return nullptr;
  }

  std::vector<std::pair<std::string_view, Value>> values_;
  std::vector<std::string> repeated_;
};

// InvalidArgument, with a message for the user, if `text` does not match the grammar, has an
// argument that is not in `specs`, or lacks a required one.
absl::StatusOr<Arguments> ParseArguments(std::span<const ArgumentSpec> specs, Repeated repeated,
                                         std::string_view text);

}  // namespace mandate::rbacgen
