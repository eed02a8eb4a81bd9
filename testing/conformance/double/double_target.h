// The double as a target.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

// A double over HTTPS, set up like hack/cluster's API server: it writes an audit log, calls
// webhooks, and has compacted its early history. Thread-safe.
class DoubleTarget {
 public:
  static absl::StatusOr<std::unique_ptr<DoubleTarget>> Create();
  ~DoubleTarget();

  // The target, whose CRDs are not installed yet.
  const Target& target() const { return target_; }

 private:
  struct Parts;
  explicit DoubleTarget(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
  Target target_;
};

}  // namespace mandate::conformance
