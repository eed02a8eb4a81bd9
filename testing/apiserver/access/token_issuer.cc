#include "testing/apiserver/access/token_issuer.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/time.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

constexpr char kGroup[] = "authentication.k8s.io";
constexpr int64_t kDefaultSeconds = 3600;
constexpr int64_t kLeastSeconds = 600;
constexpr int64_t kMostSeconds = int64_t{1} << 32;
// Projected volumes request exactly this life: such a token of a Pod is valid for a year.
constexpr int64_t kProjectedSeconds = 3607;
constexpr absl::Duration kProjectedLife = absl::Hours(24 * 365);

absl::Status Invalid(std::string_view name, const Cause& cause) {
  return InvalidError(kGroup, "TokenRequest", name, {cause});
}

}  // namespace

struct TokenIssuer::Binding {
  std::optional<NameAndUid> pod, secret, node;
};

TokenIssuer::TokenIssuer(absl::Duration max_life, const Authenticator& authenticator,
                         std::function<std::string()> new_uid)
    : max_life_(max_life), authenticator_(authenticator), new_uid_(std::move(new_uid)) {}

absl::StatusOr<std::shared_ptr<const StoredObject>> TokenIssuer::Get(
    const std::string& resource, const std::string& ns, const std::string& name) const {
  const GroupResource what{.group = "", .resource = resource};
  if (name.empty()) return BadRequest("Name parameter required.");
  auto object = authenticator_.objects().Get(what, ns, name);
  if (object == nullptr) return NotFoundError(what, name);
  return object;
}

absl::StatusOr<TokenIssuer::Binding> TokenIssuer::Bind(const std::string& ns,
                                                       const std::string& account,
                                                       const Json::Value& ref) const {
  Binding binding;
  const std::string kind = StringAt(ref, "kind");
  const std::string version = StringAt(ref, "apiVersion");
  const std::string name = StringAt(ref, "name");
  const bool core = version.find('/') == std::string::npos;
  std::string uid;
  if (core && kind == "Pod") {
    ASSIGN_OR_RETURN(const auto pod, Get("pods", ns, name));
    const Json::Value spec = pod->Parse()["spec"];
    if (StringAt(spec, "serviceAccountName") != account) {
      return BadRequest(StrCat("cannot bind token for serviceaccount ", rbac::Quote(account),
                               " to pod running with different serviceaccount name."));
    }
    binding.pod = NameAndUid{.name = name, .uid = uid = pod->uid};
    if (const std::string node = StringAt(spec, "nodeName"); !node.empty()) {
      const auto stored =
          authenticator_.objects().Get({.group = "", .resource = "nodes"}, "", node);
      binding.node = NameAndUid{.name = node, .uid = stored != nullptr ? stored->uid : ""};
    }
  } else if (core && kind == "Node") {
    ASSIGN_OR_RETURN(const auto node, Get("nodes", "", name));
    binding.node = NameAndUid{.name = name, .uid = uid = node->uid};
  } else if (core && kind == "Secret") {
    ASSIGN_OR_RETURN(const auto secret, Get("secrets", ns, name));
    binding.secret = NameAndUid{.name = name, .uid = uid = secret->uid};
  } else {
    return BadRequest(
        StrCat("cannot bind token to object of type ", core ? "/" : "", version, ", Kind=", kind));
  }
  if (const std::string wanted = StringAt(ref, "uid"); !wanted.empty() && wanted != uid) {
    return ConflictError({.group = "", .resource = kind}, name,
                         StrCat("the UID in the bound object reference (", wanted,
                                ") does not match the UID in record. The object might have been "
                                "deleted and then recreated"));
  }
  return binding;
}

absl::StatusOr<absl::Duration> TokenIssuer::Life(const Request& request, Json::Value& spec) const {
  if (!spec.isMember("expirationSeconds")) {
    spec["expirationSeconds"] = Json::Int64{kDefaultSeconds};
  }
  const int64_t seconds = spec["expirationSeconds"].asInt64();
  constexpr char kField[] = "spec.expirationSeconds";
  if (seconds < kLeastSeconds) {
    return Invalid("", InvalidField(kField, StrCat(seconds),
                                    "may not specify a duration less than 10 minutes"));
  }
  if (seconds > kMostSeconds) {
    return Invalid("", InvalidField(kField, StrCat(seconds),
                                    "may not specify a duration larger than 2^32 seconds"));
  }
  const int64_t most = absl::ToInt64Seconds(max_life_);
  if (most > 0 && seconds > most) {
    request.notes->warnings.push_back(
        StrCat("requested expiration of ", seconds, " seconds shortened to ", most, " seconds"));
    spec["expirationSeconds"] = Json::Int64{most};
    return max_life_;
  }
  return absl::Seconds(seconds);
}

absl::StatusOr<Json::Value> TokenIssuer::Issue(const Request& request, Json::Value object) const {
  const std::string& ns = request.attributes.ns;
  const std::string& name = request.attributes.name;
  Json::Value& metadata = object["metadata"];
  Json::Value& spec = object["spec"];
  RETURN_IF_ERROR(Get("namespaces", "", ns).status());
  if (const std::string given = StringAt(metadata, "name"); !given.empty() && given != name) {
    return Invalid(name, InvalidField("metadata.name", rbac::Quote(given),
                                      "must match the service account name if specified"));
  }
  ASSIGN_OR_RETURN(const auto account, Get("serviceaccounts", ns, name));
  if (const std::string given = StringAt(metadata, "uid");
      !given.empty() && given != account->uid) {
    return ConflictError(
        {.group = kGroup, .resource = "TokenRequest"}, name,
        StrCat("the UID in the token request (", given,
               ") does not match the UID of the service account (", account->uid, ")"));
  }
  ASSIGN_OR_RETURN(absl::Duration life, Life(request, spec));
  Json::Value& ref = spec["boundObjectRef"];  // the real server's response has null, too
  Binding binding;
  if (!ref.isNull()) {
    ASSIGN_OR_RETURN(binding, Bind(ns, name, ref));
  }

  if (Member(spec, "audiences").empty()) spec["audiences"] = JsonList({kIssuer});
  std::vector<std::string> audiences = Texts(spec, "audiences");
  const absl::Time now =
      absl::FromUnixSeconds(absl::ToUnixSeconds(authenticator_.clock().TimeNow()));
  const absl::Time expires = now + life;
  const bool for_server =
      std::all_of(audiences.begin(), audiences.end(),
                  [](const std::string& audience) { return audience == kIssuer; });
  if (binding.pod && for_server && life == absl::Seconds(kProjectedSeconds)) life = kProjectedLife;

  const std::string jti = new_uid_();
  const std::string token = SignToken({.issuer = kIssuer,
                                       .jti = jti,
                                       .audiences = std::move(audiences),
                                       .issued = now,
                                       .expires = now + life,
                                       .ns = ns,
                                       .service_account = {.name = name, .uid = account->uid},
                                       .pod = binding.pod,
                                       .secret = binding.secret,
                                       .node = binding.node},
                                      kSigningKey);
  metadata["name"] = name;
  metadata["namespace"] = ns;
  metadata["uid"] = account->uid;
  metadata["creationTimestamp"] = FormatTimestamp(now);
  object["status"] = Json::objectValue;
  object["status"]["token"] = token;
  object["status"]["expirationTimestamp"] = FormatTimestamp(expires);
  request.notes->annotations["authentication.kubernetes.io/issued-credential-id"] =
      StrCat("JTI=", jti);
  return object;
}

}  // namespace mandate::apiserver
