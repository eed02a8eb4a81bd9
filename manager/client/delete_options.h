// The options of deletions: metav1.DeleteOptions.
#pragma once

#include <string>

namespace mandate {

enum class DeletionPropagation { kBackground, kForeground, kOrphan };

// Of one object.
struct DeleteOptions {
  // Preconditions. If the object has another UID or another version, it is not deleted, and the
  // error is a conflict (kAborted). Empty: no precondition.
  std::string uid = {};
  std::string resource_version = {};
  DeletionPropagation propagation = DeletionPropagation::kBackground;
  // Deletes nothing; the result is as if it did (write_options.h).
  bool dry_run = false;
};

// Of all objects that the selectors select.
struct DeleteAllOfOptions {
  // The namespace; empty only for a cluster-scoped kind. An API server does not delete across
  // namespaces.
  std::string ns = {};
  // "app=web,tier!=db". If both selectors are empty, all objects of the namespace are deleted.
  std::string label_selector = {};
  std::string field_selector = {};
  DeletionPropagation propagation = DeletionPropagation::kBackground;
  // Deletes nothing; the result is as if it did (write_options.h).
  bool dry_run = false;
};

// The body of the request, as JSON. The body must have all options: the API server ignores those in
// the query of a request with a body.
std::string DeleteBody(const DeleteOptions& options);

}  // namespace mandate
