#include "testing/apiserver/access/access.h"

#include <memory>
#include <random>
#include <string_view>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "testing/apiserver/access/access_review.h"
#include "testing/apiserver/access/bootstrap_policy.h"
#include "testing/apiserver/access/escalation_check.h"
#include "testing/apiserver/access/forbidden.h"
#include "testing/apiserver/access/identity_review.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/access/stored_policy.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/status_response.h"

namespace mandate::apiserver {
namespace {

// Random UUIDs; the same seed gives the same UUIDs.
std::function<std::string()> UidsOf(uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string uid = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
    for (char& c : uid) {
      if (c == 'x') c = kDigits[random() % kDigits.size()];
    }
    return uid;
  };
}

// The 403, with the reason of the authorizer's decision.
absl::Status Denied(const rbac::UserInfo& user, const rbac::Attributes& request,
                    std::string_view reason) {
  ApiStatusProto status;
  status.mutable_metadata();
  status.set_status("Failure");
  status.set_code(403);
  status.set_reason("Forbidden");
  status.set_message(rbac::ForbiddenMessage(user.name, request, reason));
  // The server sends empty details for a request of a path.
  auto* details = status.mutable_details();
  if (!request.name.empty()) details->set_name(request.name);
  if (!request.api_group.empty()) details->set_group(request.api_group);
  if (!request.resource.empty()) details->set_kind(request.resource);
  return StatusFromApi(status);
}

bool Impersonates(const Request& request) {
  for (const auto& [name, value] : request.headers) {
    if (name.starts_with("impersonate-")) return true;
  }
  return false;
}

}  // namespace

Access::Access(AccessOptions options, const ObjectReader& objects, Loop& loop)
    : new_uid_(UidsOf(options.seed)),
      clock_(loop.clock()),
      authenticator_(std::move(options.fixed_tokens), objects, clock_, options.token_leeway),
      issuer_(options.max_token_life, authenticator_, [this] { return new_uid_(); }),
      authorizer_(std::make_unique<StoredPolicy>(objects)),
      audit_(std::move(options.audit_sink), clock_, [this] { return new_uid_(); }) {}

void Access::Authenticate(const std::shared_ptr<Exchange>& exchange, const Handler& next) {
  Request& request = exchange->request();
  auto user = authenticator_.Authenticate(request);
  if (!user.ok()) {
    exchange->Fail(user.status());
    return;
  }
  request.user = *std::move(user);
  if (Impersonates(request)) {
    exchange->Fail(Unsupported("impersonation"));
    return;
  }
  next(exchange);
}

void Access::AuthorizeRequest(const std::shared_ptr<Exchange>& exchange, const Handler& next) {
  const Request& request = exchange->request();
  const rbac::Decision decision = authorizer_.Authorize(request.user, request.attributes);
  auto& annotations = request.notes->annotations;
  annotations["authorization.k8s.io/decision"] = decision.allowed ? "allow" : "forbid";
  annotations["authorization.k8s.io/reason"] = decision.reason;
  if (decision.allowed) {
    next(exchange);
    return;
  }
  Response response =
      StatusResponse(Denied(request.user, request.attributes, decision.reason), request);
  response.headers.emplace_back("x-content-type-options", "nosniff");
  exchange->Respond(std::move(response));
}

absl::Status Access::CheckRules(const WriteAttributes& write) {
  return CheckEscalation(authorizer_, write);
}

absl::Status Access::CheckCreate(const Request& request) {
  rbac::Attributes attributes = request.attributes;
  attributes.verb = "create";
  const rbac::Decision decision = authorizer_.Authorize(request.user, attributes);
  if (decision.allowed) return absl::OkStatus();
  return Denied(request.user, attributes, decision.reason);
}

rbac::Decision Access::Authorize(const User& user, const rbac::Attributes& request) {
  return authorizer_.Authorize(user, request);
}

Plugin Access::plugin() {
  Plugin plugin;
  plugin.filters = {
      [this](const std::shared_ptr<Exchange>& exchange, const Handler& next) {
        audit_.Watch(exchange);
        next(exchange);
      },
      [this](const std::shared_ptr<Exchange>& exchange, const Handler& next) {
        Authenticate(exchange, next);
      },
      [this](const std::shared_ptr<Exchange>& exchange, const Handler& next) {
        AuthorizeRequest(exchange, next);
      },
  };
  plugin.hooks = this;
  plugin.seed = BootstrapPolicy();

  constexpr std::string_view kAuthentication = "authentication.k8s.io";
  constexpr std::string_view kAuthorization = "authorization.k8s.io";
  const auto add = [&](std::string_view group, std::string_view resource, std::string_view kind,
                       bool namespaced, auto create) {
    const std::string_view package =
        group == kAuthorization ? "k8s.io.api.authorization.v1." : "k8s.io.api.authentication.v1.";
    plugin.resources.push_back(
        {.group = std::string(group),
         .version = "v1",
         .resource = std::string(resource),
         .namespaced = namespaced,
         .message = StrCat(package, kind),
         .kind_group = std::string(group.empty() ? kAuthentication : group),
         .create = [create, namespaced](const Request& request, Json::Value object, auto done) {
           const std::string ns = StringAt(Member(object, "metadata"), "namespace");
           if (namespaced && !ns.empty() && ns != request.attributes.ns) {
             std::move(done)(BadRequest(
                 "the namespace of the provided object does not match the namespace sent on the "
                 "request"));
             return;
           }
           std::move(done)(create(request, std::move(object)));
         }});
  };
  const auto review = [this](auto* function) {
    return [this, function](const Request& request, Json::Value object) {
      return function(authorizer_, request, std::move(object));
    };
  };
  add("", "serviceaccounts/token", "TokenRequest", true,
      [this](const Request& request, Json::Value object) {
        return issuer_.Issue(request, std::move(object));
      });
  add(kAuthentication, "tokenreviews", "TokenReview", false,
      [this](const Request&, Json::Value object) {
        return ReviewToken(authenticator_, std::move(object));
      });
  add(kAuthentication, "selfsubjectreviews", "SelfSubjectReview", false,
      [this](const Request& request, const Json::Value&) {
        return absl::StatusOr<Json::Value>(ReviewOwnIdentity(request, clock_.TimeNow()));
      });
  add(kAuthorization, "subjectaccessreviews", "SubjectAccessReview", false, review(&ReviewAccess));
  add(kAuthorization, "localsubjectaccessreviews", "LocalSubjectAccessReview", true,
      review(&ReviewLocalAccess));
  add(kAuthorization, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false,
      review(&ReviewOwnAccess));
  add(kAuthorization, "selfsubjectrulesreviews", "SelfSubjectRulesReview", false,
      review(&ReviewOwnRules));
  return plugin;
}

}  // namespace mandate::apiserver
