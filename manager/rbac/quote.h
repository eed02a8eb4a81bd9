// Go's %q: the API server uses it to quote names in its messages.
#ifndef MANAGER_RBAC_QUOTE_H_
#define MANAGER_RBAC_QUOTE_H_

#include <string>
#include <string_view>

namespace mandate::rbac {

// `text` in double quotes; quotes, backslashes and ASCII control characters escaped as Go does,
// everything else as it is.
std::string Quote(std::string_view text);

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_QUOTE_H_
