// The variables of a row, and their use in requests and expectations.
#pragma once

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate::conformance {

using Variables = std::map<std::string, std::string, std::less<>>;

// Replaces $name and ${name} (letters, digits, underscores; a letter first) by their values, and $$
// by $. Any other $ is kept. kNotFound with the name of a variable that is not set.
absl::StatusOr<std::string> Substitute(std::string_view text, const Variables& variables);

// Substitutes in every string and every key of `value`.
absl::StatusOr<Json::Value> SubstituteAll(const Json::Value& value, const Variables& variables);

// The variable that starts with the $ at text[at]: its name, and the position after it. If the name
// is empty, it is not a variable, and `next` is the position after the $ or $$.
struct VariableReference {
  std::string_view name;
  size_t next;
};
VariableReference ReferenceAt(std::string_view text, size_t at);

}  // namespace mandate::conformance
