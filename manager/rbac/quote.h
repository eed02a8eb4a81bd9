// Go's %q: the API server uses it to quote names in its messages.
#pragma once

#include <string>
#include <string_view>

namespace mandate::rbac {

// `text` in double quotes; quotes, backslashes and ASCII control characters escaped as Go does,
// everything else as it is.
std::string Quote(std::string_view text);

}  // namespace mandate::rbac
