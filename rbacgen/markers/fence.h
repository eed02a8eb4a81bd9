// A fence: the conditions on the objects that a component writes. RBAC cannot express them; a
// ValidatingAdmissionPolicy can.
//
//   "+mandate:fence:groups=rbac.authorization.k8s.io,resources=rolebindings,
//     owner="example.com/Grant",roleRefs="!cluster-admin;!system:*;!$(BASE_NAME)*",
//     neverSubject=self"
//
// Patterns are names in which "*" is any text, and "$(BASE_NAME)" is the prefix of the names of
// the manager's own objects (--base-name). A pattern that begins with "!" excludes; if all do,
// every other name is allowed.
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

  // The mark of the component's own objects, before and after the write: the controller has the
  // kind `owner`, "group/Kind"; or the object has no controller and has `label`, "key" or
  // "key=value".
  std::string owner;
  std::string label;
  std::vector<std::string> names;  // patterns of the names that may be created
  // Patterns of keys, of the labels and of the finalizers that a write adds or changes. Without
  // `finalizers` it adds none.
  std::vector<std::string> labels;
  std::vector<std::string> never_labels;
  std::vector<std::string> finalizers;
  // Of bindings: patterns, "name" or "Role/name" or "ClusterRole/name".
  std::vector<std::string> role_refs;
  bool never_self = false;       // no subject may be the component, or one of its groups
  bool never_manager = false;    // no subject is a ServiceAccount of the manager's namespace
  bool never_anonymous = false;  // no subject may be the users without a credential
  // "group/resource" of the owners. Only users that may update the finalizers of this resource can
  // change the owners and the labels of the patterns `labels` of the component's objects, or add
  // finalizers to them.
  std::string guard;

  std::string id;  // the end of its policy's name, after the component; a DNS label
};

// The word in a pattern that means the prefix of the names of the manager's own objects.
inline constexpr std::string_view kBaseNameWord = "$(BASE_NAME)";

// From the arguments of a marker. InvalidArgument, with a message for the user, if they do not make
// a fence.
absl::StatusOr<Fence> ReadFence(std::string_view arguments);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_FENCE_H_
