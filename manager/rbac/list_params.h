// The part of a list request's parameters that authorization looks at (metav1.ListOptions).
#ifndef MANAGER_RBAC_LIST_PARAMS_H_
#define MANAGER_RBAC_LIST_PARAMS_H_

#include <optional>
#include <string>
#include <string_view>

namespace mandate::rbac {

struct ListParams {
  bool watch = false;
  // The value that a field selector requires metadata.name to have. None as well when any
  // parameter is malformed: the server then forgets them all but `watch`.
  std::optional<std::string> name;
};

// `query` is what follows the "?". Of repeated parameters the first counts.
ListParams ParseListParams(std::string_view query);

// Decodes %XX, and "+" to a space where `plus` says so. None when an escape is malformed.
std::optional<std::string> PercentDecode(std::string_view text, bool plus);

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_LIST_PARAMS_H_
