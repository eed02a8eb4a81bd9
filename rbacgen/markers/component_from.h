// Which component a source file's rules belong to where no marker says: the folder's, or the
// file's.
#ifndef RBACGEN_MARKERS_COMPONENT_FROM_H_
#define RBACGEN_MARKERS_COMPONENT_FROM_H_

#include <string>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

enum class ComponentFrom {
  kMarker,  // only +mandate:component markers name one
  kDir,     // internal/controller/memcached/reconciler.go: memcached
  kFile,    // internal/controller/memcached_controller.go: memcached
};

// The component of a file, "" for kMarker. Capitals become small, what a DNS label cannot have
// becomes "-", and of a file's name the endings _controller, _reconciler and _webhook are left out.
// InvalidArgument, saying what to do, if that makes no component's name.
absl::StatusOr<std::string> ComponentOfFile(const std::string& file, ComponentFrom from);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_COMPONENT_FROM_H_
