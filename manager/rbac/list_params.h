// The part of a list request's parameters that authorization looks at (metav1.ListOptions).
#ifndef MANAGER_RBAC_LIST_PARAMS_H_
#define MANAGER_RBAC_LIST_PARAMS_H_

#include <optional>
#include <string>
#include <string_view>

namespace mandate::rbac {

struct ListParams {
  bool watch = false;
  // The value that a field selector requires metadata.name to have. nullopt also when any parameter
  // is malformed: the server then ignores all parameters but `watch`.
  std::optional<std::string> name;
};

// `query` is the text after the "?". The first of repeated parameters counts.
ListParams ParseListParams(std::string_view query);

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_LIST_PARAMS_H_
