#include "manager/client/guard.h"

#include <array>
#include <utility>

#include "manager/core/closest_name.h"
#include "manager/core/strings.h"
#include "manager/rbac/request_info.h"
#include "manager/rbac/request_marker.h"

namespace mandate {
namespace {

constexpr std::string_view kApply = "application/apply-patch";  // +yaml, +cbor

void Count(prometheus::Counter* counter) {
  if (counter != nullptr) counter->Increment();
}

// "create rolebindings.rbac.authorization.k8s.io foo/bar".
std::string Describe(const rbac::Attributes& request) {
  if (!request.is_resource_request) return StrCat(request.verb, " ", request.path);
  std::string text = StrCat(request.verb, " ", request.resource);
  if (!request.api_group.empty()) StrAppend(&text, ".", request.api_group);
  if (!request.subresource.empty()) StrAppend(&text, "/", request.subresource);
  if (!request.name.empty()) {
    const bool in_namespace = !request.ns.empty() && request.resource != "namespaces";
    StrAppend(&text, " ", in_namespace ? request.ns + "/" : "", request.name);
  } else if (!request.ns.empty()) {
    StrAppend(&text, " in namespace ", request.ns);
  }
  return text;
}

}  // namespace

absl::StatusOr<GuardMode> ParseGuardMode(std::string_view text) {
  if (text == "off") return GuardMode::kOff;
  if (text == "warn") return GuardMode::kWarn;
  if (text == "enforce") return GuardMode::kEnforce;
  return absl::InvalidArgumentError(StrCat("unknown guard mode \"", text,
                                           "\": choose off, warn or enforce",
                                           DidYouMean(text, {"off", "warn", "enforce"})));
}

bool AllowedToEveryone(const rbac::Attributes& request) {
  if (request.is_resource_request) {
    if (request.verb != "create" || !request.subresource.empty()) return false;
    if (request.api_group == "authorization.k8s.io") {
      return request.resource == "selfsubjectaccessreviews" ||
             request.resource == "selfsubjectrulesreviews";
    }
    return request.api_group == "authentication.k8s.io" && request.resource == "selfsubjectreviews";
  }
  constexpr std::array<std::string_view, 11> kDiscovery = {
      "/api",     "/api/*",     "/apis",   "/apis/*",  "/healthz", "/livez",
      "/openapi", "/openapi/*", "/readyz", "/version", "/version/"};
  if (request.verb != "get") return false;
  for (std::string_view url : kDiscovery) {
    if (url.ends_with('*') ? request.path.starts_with(url.substr(0, url.size() - 1))
                           : request.path == url) {
      return true;
    }
  }
  return false;
}

Guard::Guard(const rbac::Mandate& mandate, GuardMode mode,
             std::function<void(const absl::Status&)> warn, Metrics* metrics)
    : mandate_(mandate), mode_(mode), warn_(std::move(warn)) {
  if (metrics == nullptr) return;
  const auto counter = [&](const char* outcome) {
    return &metrics->Counter("mandate_guard_requests_total",
                             "Requests that were checked against the component's markers",
                             {{"identity", std::string(mandate.component)}, {"outcome", outcome}});
  };
  allowed_ = counter("allowed");
  undeclared_ = counter("undeclared");
  rejected_ = counter("rejected");
  unreadable_ = counter("unreadable");
}

absl::Status Guard::CheckRules(const rbac::Attributes& request) const {
  if (rbac::PermitsRequest(mandate_, request) || AllowedToEveryone(request))
    return absl::OkStatus();
  const bool narrow = !request.ns.empty() || !request.name.empty();
  return absl::PermissionDeniedError(
      StrCat("component ", mandate_.component, " does not declare that it may ", Describe(request),
             "; nothing was sent. To declare it, add this marker to its source",
             narrow ? " (omit namespace= and resourceNames= to allow every object)" : "", ":\n",
             rbac::MarkerFor(request, request.verb)));
}

bool Guard::DenialMeansMissingGrant(std::string_view method, std::string_view target) const {
  const absl::StatusOr<rbac::Attributes> request = rbac::AttributesOf(method, target);
  if (!request.ok()) return false;
  if (AllowedToEveryone(*request)) return true;
  for (const rbac::MandateRule& rule : mandate_.rules) {
    if (rule.external) continue;
    if (rbac::PermitsRequest({.component = mandate_.component, .rules = {&rule, 1}}, *request))
      return true;
  }
  return false;
}

absl::Status Guard::Check(std::string_view method, std::string_view target,
                          std::string_view content_type) const {
  if (mode_ == GuardMode::kOff) return absl::OkStatus();
  absl::StatusOr<rbac::Attributes> request = rbac::AttributesOf(method, target);
  if (!request.ok()) {
    Count(unreadable_);
    return std::move(request).status();
  }
  absl::Status verdict = CheckRules(*request);
  // An apply never creates a subresource.
  if (verdict.ok() && request->verb == "patch" && request->subresource.empty() &&
      content_type.starts_with(kApply)) {
    request->verb = "create";
    verdict = CheckRules(*request);
  }
  if (verdict.ok()) {
    Count(allowed_);
    return verdict;
  }
  if (mode_ == GuardMode::kEnforce) {
    Count(rejected_);
    return verdict;
  }
  Count(undeclared_);
  if (warn_) warn_(verdict);
  return absl::OkStatus();
}

}  // namespace mandate
