// What a row has captured, and its place in requests and expectations.
#ifndef TESTING_CONFORMANCE_VARIABLES_H_
#define TESTING_CONFORMANCE_VARIABLES_H_

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate::conformance {

using Variables = std::map<std::string, std::string, std::less<>>;

// Replaces $name and ${name} (letters, digits, underscores; a letter first) by their values and $$
// by $; any other $ stands for itself. kNotFound names a variable that is not set.
absl::StatusOr<std::string> Substitute(std::string_view text, const Variables& variables);

// In every string and every key of `value`.
absl::StatusOr<Json::Value> SubstituteAll(const Json::Value& value, const Variables& variables);

// The variable that starts at text[at], which is a $: its name, and where the text goes on. An
// empty name: it is none, and `next` is after the $ (or after $$).
struct VariableReference {
  std::string_view name;
  size_t next;
};
VariableReference ReferenceAt(std::string_view text, size_t at);

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_VARIABLES_H_
