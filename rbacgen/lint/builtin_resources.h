// The resources that a Kubernetes API server serves by itself, and the verbs that they support.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {

struct BuiltinResource {
  std::string_view group;
  std::string_view resource;  // "pods", "pods/log"
  bool namespaced;
  std::string_view verbs;  // separated by blanks; the union over all versions of the resource
};

// The resources of Kubernetes 1.36, also those that are off by default, by group and resource. They
// are generated from the discovery that Kubernetes publishes. The last entries are resources that
// RBAC authorizes but no server serves, such as the users that a request may impersonate.
std::span<const BuiltinResource> BuiltinResources();

// Other names that kubectl accepts for a resource, by group and resource.
struct BuiltinShortName {
  std::string_view group;
  std::string_view resource;
  std::string_view short_name;
};
std::span<const BuiltinShortName> BuiltinShortNames();

// Whether the API server itself serves the group.
bool IsBuiltinGroup(std::string_view group);
// The resource; null if it is unknown. The subresource "finalizers" of every known resource is
// known too: it is authorized, but never served.
const BuiltinResource* FindBuiltin(std::string_view group, std::string_view resource);
// The built-in resource with the most similar name, in any group but preferably in one of `groups`;
// null if no name is similar.
const BuiltinResource* NearestBuiltin(std::span<const std::string> groups,
                                      std::string_view resource);

bool KnowsVerb(const BuiltinResource& resource, std::string_view verb);

}  // namespace mandate::rbacgen
