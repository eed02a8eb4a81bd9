// Names the component of the rules of a file without a component marker after its folder, or after
// the file.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

enum class ComponentFrom {
  kMarker,  // only +mandate:component markers name one
  kDir,     // internal/controller/memcached/reconciler.go: memcached
  kFile,    // internal/controller/memcached_controller.go: memcached
};

// The component of a file; "" for kMarker. Capital letters become small letters, characters that a
// DNS label cannot have become "-", and the endings _controller, _reconciler and _webhook of the
// file's name are removed. InvalidArgument, with the next step, if the result is not a valid name.
absl::StatusOr<std::string> ComponentOfFile(const std::string& file, ComponentFrom from);

}  // namespace mandate::rbacgen
