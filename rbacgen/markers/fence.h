// A fence: what the objects that a component writes must be like. RBAC cannot say it; a
// ValidatingAdmissionPolicy does.
//
//   "+mandate:fence:groups=rbac.authorization.k8s.io,resources=rolebindings,
//     owner="example.com/Grant",roleRefs="!cluster-admin;!system:*;!$(BASE_NAME)*",
//     neverSubject=self"
//
// Patterns are names in which "*" is any text, and "$(BASE_NAME)" what the names of the manager's
// own objects begin with (--base-name). One that begins with "!" excludes; where all do, everything
// else is allowed.
#ifndef RBACGEN_MARKERS_FENCE_H_
#define RBACGEN_MARKERS_FENCE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

struct Fence {
  std::vector<std::string> groups;
  std::vector<std::string> resources;
  // Of "create", "update" and "delete", as admission has them: a patch is one of the first two.
  std::vector<std::string> verbs;

  // What marks an object as the component's own, before and after the write: its controller is of
  // the kind `owner`, "group/Kind"; or it has none and bears `label`, "key" or "key=value".
  std::string owner;
  std::string label;
  std::vector<std::string> names;  // patterns: what may be created
  // Patterns of keys, of the labels and of the finalizers that a write adds or changes. Without
  // `finalizers` it adds none.
  std::vector<std::string> labels;
  std::vector<std::string> never_labels;
  std::vector<std::string> finalizers;
  // Of bindings: patterns, "name" or "Role/name" or "ClusterRole/name".
  std::vector<std::string> role_refs;
  bool never_self = false;       // no subject is the component, or a group that it is in
  bool never_manager = false;    // no subject is a ServiceAccount of the manager's namespace
  bool never_anonymous = false;  // no subject is everybody without a credential
  // "group/resource", what the owners are: of the component's own objects, only who may update the
  // finalizers of these changes the owners and the labels of the patterns `labels`, and adds
  // finalizers.
  std::string guard;

  std::string id;  // what its policy is named after, behind the component; a DNS label
};

// What stands in a pattern for what the names of the manager's own objects begin with.
inline constexpr std::string_view kBaseNameWord = "$(BASE_NAME)";

// From the arguments of a marker. InvalidArgument, with a text for people, for what makes no fence.
absl::StatusOr<Fence> ReadFence(std::string_view arguments);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_FENCE_H_
