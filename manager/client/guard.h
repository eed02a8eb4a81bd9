// Rejects requests that a component's markers do not declare, before they are sent.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/metrics.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/rule.h"

namespace mandate {

enum class GuardMode {
  kOff,      // sends everything
  kWarn,     // sends everything, but reports what kEnforce would reject
  kEnforce,  // rejects
};
// "off", "warn", "enforce"; kInvalidArgument otherwise.
absl::StatusOr<GuardMode> ParseGuardMode(std::string_view text);

// Evaluates requests as the API server's authorizer would if it had granted exactly the mandate's
// rules. Requests that every authenticated user may make (self reviews, discovery) pass. Immutable,
// thread-safe.
class Guard {
 public:
  // `warn` gets each rejection that kWarn does not enforce, on any thread. `metrics` may be null,
  // and outlives this otherwise: mandate_guard_requests_total{identity,outcome} counts the checks:
  // allowed, undeclared (and sent, in kWarn), rejected, unreadable.
  Guard(const rbac::Mandate& mandate, GuardMode mode,
        std::function<void(const absl::Status&)> warn = {}, Metrics* metrics = nullptr);

  // kPermissionDenied names component, verb, resource and object, and the marker that would allow
  // it; kInvalidArgument for a request that the server could not parse.
  //
  // Server-side apply creates an object that does not exist, which the server authorizes as create
  // with the object's name (KEP-555). Only the server knows whether it exists, so both verbs are
  // needed here. A PUT that creates its object is authorized so, too; here it counts as an update,
  // as a PUT with a resourceVersion is.
  absl::Status Check(std::string_view method, std::string_view target,
                     std::string_view content_type = "") const;

  // Whether the server's 403 to this request means that a grant is missing: every user may send the
  // request, or a marker declares it without granted=external, whose absence is not a fault.
  bool DenialMeansMissingGrant(std::string_view method, std::string_view target) const;

  const rbac::Mandate& mandate() const { return mandate_; }

 private:
  // OK if the mandate, or the rights of every user, cover the request.
  absl::Status CheckRules(const rbac::Attributes& request) const;

  const rbac::Mandate& mandate_;  // a constant of the program
  const GuardMode mode_;
  const std::function<void(const absl::Status&)> warn_;
  // Null without metrics.
  prometheus::Counter* allowed_ = nullptr;
  prometheus::Counter* undeclared_ = nullptr;
  prometheus::Counter* rejected_ = nullptr;
  prometheus::Counter* unreadable_ = nullptr;
};

// The rights that the roles system:basic-user and system:discovery give to every authenticated
// user.
bool AllowedToEveryone(const rbac::Attributes& request);

}  // namespace mandate
