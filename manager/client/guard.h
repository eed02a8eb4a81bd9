// Refuses what a component's markers do not declare, before anything is sent.
#ifndef MANAGER_CLIENT_GUARD_H_
#define MANAGER_CLIENT_GUARD_H_

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
  // `warn` hears each refusal that kWarn does not make; from any thread. With `metrics`, which may
  // be null and otherwise outlives this, mandate_guard_requests_total{identity,outcome} counts what
  // was checked: allowed, undeclared (sent all the same, in kWarn), refused, unreadable.
  Guard(const rbac::Mandate& mandate, GuardMode mode,
        std::function<void(const absl::Status&)> warn = {}, Metrics* metrics = nullptr);

  // kPermissionDenied names component, verb, resource and object, and the marker that would allow
  // it; kInvalidArgument for a request that the server could not parse.
  //
  // Server-side apply makes an object that is not there, which the server authorizes as create with
  // the object's name (KEP-555): it needs both verbs here, since only the server knows. A PUT that
  // makes its object is authorized so, too; here it is an update, which those with a
  // resourceVersion are.
  absl::Status Check(std::string_view method, std::string_view target,
                     std::string_view content_type = "") const;

  // Whether the server's 403 to this request says that a grant is missing: every user may send it,
  // or a marker declares it that is not granted=external, whose absence is no fault.
  bool IsOwed(std::string_view method, std::string_view target) const;

  const rbac::Mandate& mandate() const { return mandate_; }

 private:
  // OK where the mandate, or everyone's rights, cover it.
  absl::Status Judge(const rbac::Attributes& request) const;

  const rbac::Mandate& mandate_;  // a constant of the program
  const GuardMode mode_;
  const std::function<void(const absl::Status&)> warn_;
  // Null without metrics.
  prometheus::Counter* allowed_ = nullptr;
  prometheus::Counter* undeclared_ = nullptr;
  prometheus::Counter* refused_ = nullptr;
  prometheus::Counter* unreadable_ = nullptr;
};

// What the roles system:basic-user and system:discovery give to every authenticated user.
bool AllowedToEveryone(const rbac::Attributes& request);

}  // namespace mandate

#endif  // MANAGER_CLIENT_GUARD_H_
