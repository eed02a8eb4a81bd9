#include "testing/apiserver/access/authenticator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/time.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {
namespace {

constexpr std::string_view kExtra = "authentication.kubernetes.io/";

absl::Status Refused(std::string_view why) { return absl::UnauthenticatedError(AsAbsl(why)); }

User Anonymous() {
  User user;
  static_cast<rbac::UserInfo&>(user) = rbac::AnonymousInfo();
  return user;
}

void AddGroup(User& user, std::string_view group) {
  if (std::find(user.groups.begin(), user.groups.end(), group) == user.groups.end()) {
    user.groups.emplace_back(group);
  }
}

std::vector<std::string> Common(const std::vector<std::string>& of,
                                const std::vector<std::string>& wanted) {
  std::vector<std::string> common;
  for (const std::string& one : of) {
    if (std::find(wanted.begin(), wanted.end(), one) != wanted.end()) common.push_back(one);
  }
  return common;
}

// The list as Go prints it with %q.
std::string Quoted(const std::vector<std::string>& list) {
  return StrCat(
      "[",
      absl::StrJoin(list, " ",
                    [](std::string* out, const std::string& s) { StrAppend(out, "\"", s, "\""); }),
      "]");
}

}  // namespace

Authenticator::Authenticator(FixedTokens fixed_tokens, const ObjectReader& objects,
                             const Clock& clock, absl::Duration leeway)
    : fixed_tokens_(std::move(fixed_tokens)), objects_(objects), clock_(clock), leeway_(leeway) {}

std::string_view BearerToken(const Request& request) {
  const std::string_view header =
      AsStd(absl::StripAsciiWhitespace(AsAbsl(request.Header("authorization").value_or(""))));
  const size_t space = header.find(' ');
  if (space == std::string_view::npos ||
      !absl::EqualsIgnoreCase(AsAbsl(header.substr(0, space)), "bearer")) {
    return {};
  }
  const std::string_view rest = header.substr(space + 1);
  return rest.substr(0, rest.find(' '));
}

absl::StatusOr<User> Authenticator::Authenticate(const Request& request) const {
  if (!request.certificate.common_name.empty()) {
    User user;
    user.name = request.certificate.common_name;
    user.groups = request.certificate.organisations;
    AddGroup(user, rbac::kAuthenticatedGroup);
    return user;
  }
  const std::string_view token = BearerToken(request);
  if (token.empty()) return Anonymous();
  auto checked = CheckToken(token, {});
  if (!checked.ok()) return ApiErrorOf(401, "Unauthorized", "Unauthorized");
  return std::move(checked->user);
}

absl::StatusOr<AuthenticatedToken> Authenticator::CheckToken(
    std::string_view token, const std::vector<std::string>& audiences) const {
  const std::vector<std::string> own = {kIssuer};
  const std::vector<std::string>& wanted = audiences.empty() ? own : audiences;
  if (revoked_.contains(token)) return Refused("service account token has been invalidated");
  if (const auto fixed = fixed_tokens_.find(std::string(token)); fixed != fixed_tokens_.end()) {
    // The only audience of a fixed token is the server.
    AuthenticatedToken result{.user = fixed->second, .audiences = Common(own, wanted)};
    AddGroup(result.user, rbac::kAuthenticatedGroup);
    if (result.audiences.empty()) return Refused("invalid bearer token");
    return result;
  }
  const auto claims = OpenToken(token, kSigningKey);
  if (!claims.ok() || claims->issuer != kIssuer) return Refused("invalid bearer token");
  AuthenticatedToken result{.user = {}, .audiences = Common(claims->audiences, wanted)};
  if (result.audiences.empty()) {
    return Refused(StrCat("[invalid bearer token, token audiences ", Quoted(claims->audiences),
                          " is invalid for the target audiences ", Quoted(wanted), "]"));
  }
  if (absl::Status status = CheckClaims(*claims); !status.ok()) {
    return Refused(StrCat("[invalid bearer token, ", status.message(), "]"));
  }
  result.user = UserOf(*claims);
  return result;
}

bool Authenticator::LongDeleted(const StoredObject& object) const {
  if (!object.deleting) return false;
  const Json::Value json = object.Parse();
  const Json::Value* when = FindMember(json["metadata"], "deletionTimestamp");
  const auto time = ParseTimestamp(when != nullptr && when->isString() ? when->asString() : "");
  return time.ok() && *time < clock_.TimeNow() - leeway_;
}

bool Authenticator::Lives(std::string_view resource, std::string_view ns,
                          const NameAndUid& ref) const {
  const auto object = objects_.Get({.group = "", .resource = std::string(resource)}, ns, ref.name);
  return object != nullptr && object->uid == ref.uid && !LongDeleted(*object);
}

absl::Status Authenticator::CheckClaims(const TokenClaims& claims) const {
  const absl::Time now = clock_.TimeNow();
  if (now > claims.expires + leeway_) return Refused("service account token has expired");
  if (now < claims.issued - leeway_) {
    return Refused("service account token is not valid yet");
  }

  const std::string_view name = claims.service_account.name;
  const auto account = objects_.Get({.group = "", .resource = "serviceaccounts"}, claims.ns, name);
  if (account == nullptr) {
    return Refused(StrCat("serviceaccounts \"", name, "\" not found"));
  }
  if (account->uid != claims.service_account.uid) {
    return Refused(StrCat("service account UID (", account->uid, ") does not match claim (",
                          claims.service_account.uid, ")"));
  }
  if (LongDeleted(*account)) {
    return Refused(StrCat("service account ", claims.ns, "/", name, " has been deleted"));
  }
  // The server does not check the Node of a Pod's token.
  const bool bound_objects_live = (!claims.secret || Lives("secrets", claims.ns, *claims.secret)) &&
                                  (!claims.pod || Lives("pods", claims.ns, *claims.pod)) &&
                                  (!claims.node || claims.pod || Lives("nodes", "", *claims.node));
  if (!bound_objects_live) return Refused("service account token has been invalidated");
  return absl::OkStatus();
}

User UserOf(const TokenClaims& claims) {
  User user;
  static_cast<rbac::UserInfo&>(user) =
      rbac::ServiceAccountInfo(claims.ns, claims.service_account.name);
  user.uid = claims.service_account.uid;
  user.extra[StrCat(kExtra, "credential-id")] = {StrCat("JTI=", claims.jti)};
  if (claims.pod) {
    user.extra[StrCat(kExtra, "pod-name")] = {claims.pod->name};
    user.extra[StrCat(kExtra, "pod-uid")] = {claims.pod->uid};
  }
  if (claims.node) {
    user.extra[StrCat(kExtra, "node-name")] = {claims.node->name};
    if (!claims.node->uid.empty()) user.extra[StrCat(kExtra, "node-uid")] = {claims.node->uid};
  }
  return user;
}

}  // namespace mandate::apiserver
