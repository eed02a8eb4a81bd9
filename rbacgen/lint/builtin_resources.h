// The resources that a Kubernetes API server serves by itself, and what can be asked of them.
#ifndef RBACGEN_LINT_BUILTIN_RESOURCES_H_
#define RBACGEN_LINT_BUILTIN_RESOURCES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {

struct BuiltinResource {
  std::string_view group;
  std::string_view resource;  // "pods", "pods/log"
  bool namespaced;
  std::string_view verbs;  // separated by blanks; all that its versions know
};

// Kubernetes 1.36's, with what is off by default; by group and resource. builtin_cluster_test
// compares it with the server's discovery. Last, what RBAC knows and no server serves: the
// resources that are only ever authorized, such as the users that one may impersonate.
std::span<const BuiltinResource> BuiltinResources();

// What kubectl takes for a resource besides its names. By group and resource.
struct BuiltinShortName {
  std::string_view group;
  std::string_view resource;
  std::string_view short_name;
};
std::span<const BuiltinShortName> BuiltinShortNames();

// Whether the server has the group by itself.
bool IsBuiltinGroup(std::string_view group);
// Null if there is none. The subresource "finalizers" of any, which is only ever authorized, is
// known, too.
const BuiltinResource* FindBuiltin(std::string_view group, std::string_view resource);
// The built-in resource of any group that is written most like this one, preferring those of
// `groups`; null if none is near.
const BuiltinResource* NearestBuiltin(std::span<const std::string> groups,
                                      std::string_view resource);

bool KnowsVerb(const BuiltinResource& resource, std::string_view verb);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_BUILTIN_RESOURCES_H_
