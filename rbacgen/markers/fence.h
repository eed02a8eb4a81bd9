// A fence: conditions on the objects that a component writes. RBAC cannot express them, but a
// ValidatingAdmissionPolicy can.
//
//   "+mandate:fence:groups=rbac.authorization.k8s.io,resources=rolebindings,
//     owner="example.com/Grant",roleRefs="!cluster-admin;!system:*;!$(BASE_NAME)*",
//     neverSubject=self"
//
// Patterns are names in which "*" matches any text, and "$(BASE_NAME)" is the prefix of the names
// of the manager's own objects (--base-name). A pattern that begins with "!" excludes names; if all
// patterns begin so, every other name is allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

struct Fence {
  std::vector<std::string> groups;
  std::vector<std::string> resources;
  // From "create", "update" and "delete", the verbs of admission, for which a patch is a create or
  // an update.
  std::vector<std::string> verbs;

  // The mark that the component's own objects must have before and after the write: the controller
  // has the kind `owner` ("group/Kind"), or the object has no controller but the label `label`
  // ("key" or "key=value").
  std::string owner;
  std::string label;
  std::vector<std::string> names;  // patterns of the names that may be created
  // Patterns for the keys of the labels, and for the finalizers, that a write adds or changes. If
  // `finalizers` is empty, a write may not add any.
  std::vector<std::string> labels;
  std::vector<std::string> never_labels;
  std::vector<std::string> finalizers;
  // Paths of the fields that an update may change, "webhooks[*].clientConfig.caBundle"; "[*]" is
  // each item of a list, which keeps its length and order. All other fields must stay as they are.
  std::vector<std::string> fields;
  // For bindings: patterns of the form "name", "Role/name" or "ClusterRole/name".
  std::vector<std::string> role_refs;
  bool never_self = false;       // no subject may be the component, or one of its groups
  bool never_manager = false;    // no subject may be a ServiceAccount of the manager's namespace
  bool never_anonymous = false;  // no subject may be a user without a credential
  // The resource of the owners, "group/resource". Only users that may update its finalizers may
  // change the owners of the component's objects, change their labels that match `labels`, or add
  // finalizers to them.
  std::string guard;

  std::string id;  // the last part of the policy's name, after the component; a DNS label
};

// The word in a pattern that stands for the prefix of the names of the manager's own objects.
inline constexpr std::string_view kBaseNameWord = "$(BASE_NAME)";

// Reads the arguments of a marker. InvalidArgument, with a message for the user, if they are not a
// valid fence.
absl::StatusOr<Fence> ReadFence(std::string_view arguments);

}  // namespace mandate::rbacgen
