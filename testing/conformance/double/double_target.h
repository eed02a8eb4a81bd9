// The double as a target.
#ifndef TESTING_CONFORMANCE_DOUBLE_DOUBLE_TARGET_H_
#define TESTING_CONFORMANCE_DOUBLE_DOUBLE_TARGET_H_

#include <memory>

#include "absl/status/statusor.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

// A double over HTTPS that is set up as hack/cluster's API server is: it logs, calls webhooks, and
// has forgotten its beginnings. Thread-safe.
class DoubleTarget {
 public:
  static absl::StatusOr<std::unique_ptr<DoubleTarget>> Create();
  ~DoubleTarget();

  // Its CRDs are not installed yet.
  const Target& target() const { return target_; }

 private:
  struct Parts;
  explicit DoubleTarget(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
  Target target_;
};

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_DOUBLE_DOUBLE_TARGET_H_
