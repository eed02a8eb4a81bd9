// Writes one YAML 1.1 scalar in the style that go.yaml.in/yaml/v2 chooses for a string.
#pragma once

#include <string>
#include <string_view>

namespace mandate::rbacgen {

// Plain if it reads back as a string, else quoted; a block if `text` has line feeds. Begins at
// `column`; further lines are indented by `indent`; folded at blanks after column 80. Ends in a
// line feed only if it is a block that needs one. `text` must be UTF-8.
std::string YamlScalar(std::string_view text, size_t indent, size_t column);

// Whether YAML 1.1 reads the plain text as a string, and not as null, bool, number or time.
bool ReadsAsString(std::string_view text);

}  // namespace mandate::rbacgen
