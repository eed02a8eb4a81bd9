// Refuses what a component's markers do not declare, before anything is sent.
#ifndef MANAGER_CLIENT_GUARD_H_
#define MANAGER_CLIENT_GUARD_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/rule.h"

namespace mandate {

enum class GuardMode {
  kOff,      // sends everything
  kWarn,     // sends everything, but tells of what it would refuse
  kEnforce,  // refuses
};
// "off", "warn", "enforce"; kInvalidArgument otherwise.
absl::StatusOr<GuardMode> ParseGuardMode(std::string_view text);

// Evaluates requests as the API server's authorizer would if exactly the mandate's rules were
// granted. What every authenticated user may do (reviews of oneself, discovery) passes.
// Immutable, thread-safe.
class Guard {
 public:
  // `warn` hears each refusal that kWarn does not make; from any thread.
  Guard(const rbac::Mandate& mandate, GuardMode mode,
        std::function<void(const absl::Status&)> warn = {})
      : mandate_(mandate), mode_(mode), warn_(std::move(warn)) {}

  // kPermissionDenied names component, verb, resource and object, and the marker that would allow
  // it; kInvalidArgument for a request that the server could not parse.
  absl::Status Check(std::string_view method, std::string_view target) const;

  const rbac::Mandate& mandate() const { return mandate_; }

 private:
  const rbac::Mandate& mandate_;  // a constant of the program
  const GuardMode mode_;
  const std::function<void(const absl::Status&)> warn_;
};

// What the roles system:basic-user and system:discovery give to every authenticated user.
bool AllowedToEveryone(const rbac::Attributes& request);

// "// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=update": what to write into
// the component's source for this request to be declared.
std::string MarkerFor(const rbac::Attributes& request);

}  // namespace mandate

#endif  // MANAGER_CLIENT_GUARD_H_
