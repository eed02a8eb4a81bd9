#include "manager/client/discovery.h"

#include "manager/core/status_macros.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

constexpr char kAccept[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

std::string Text(const Json::Value& object, const char* member) {
  if (!object.isObject()) return "";
  const Json::Value& value = object[member];
  return value.isString() ? value.asString() : "";
}

// The array `member` of `object`; an empty one when it is something else.
const Json::Value& Array(const Json::Value& object, const char* member) {
  static const Json::Value kNone(Json::arrayValue);
  if (!object.isObject()) return kNone;
  const Json::Value& value = object[member];
  return value.isArray() ? value : kNone;
}

}  // namespace

absl::StatusOr<ResourceScopes> ParseDiscovery(std::string_view body) {
  ASSIGN_OR_RETURN(const Json::Value root, ParseJson(body));
  if (Text(root, "kind") != "APIGroupDiscoveryList") {
    return absl::InvalidArgumentError(
        "the server's discovery document is no APIGroupDiscoveryList (Kubernetes 1.30 or newer "
        "serves it)");
  }
  ResourceScopes scopes;
  for (const Json::Value& group : Array(root, "items")) {
    const std::string name =
        group.isObject() && group.isMember("metadata") ? Text(group["metadata"], "name") : "";
    for (const Json::Value& version : Array(group, "versions")) {
      for (const Json::Value& resource : Array(version, "resources")) {
        const std::string plural = Text(resource, "resource");
        const std::string scope = Text(resource, "scope");
        // What says too little is as good as not served.
        if (plural.empty() || (scope != "Cluster" && scope != "Namespaced")) continue;
        // The first version is the preferred one, and so the one that counts.
        scopes.try_emplace({name, plural},
                           scope == "Cluster" ? Scope::kCluster : Scope::kNamespaced);
      }
    }
  }
  return scopes;
}

Discovery::Discovery(RestClient& client, absl::Duration min_interval)
    : client_(client), min_interval_(min_interval) {}

std::optional<Scope> Discovery::Known(const ResourceName& name) const {
  MutexLock lock(mutex_);
  const auto found = known_.find(name);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

bool Discovery::TakeTurn() {
  const absl::Time now = client_.loop().clock().TimeNow();
  MutexLock lock(mutex_);
  if (now < last_asked_ + min_interval_) return false;
  last_asked_ = now;
  return true;
}

absl::Status Discovery::Fetch(const CallContext& context, std::string_view path,
                              ResourceScopes& into) {
  RestRequest request;
  request.method = "GET";
  request.target = std::string(path);
  request.accept = kAccept;
  ASSIGN_OR_RETURN(const HttpResponse response, client_.Do(context, std::move(request)));
  ASSIGN_OR_RETURN(ResourceScopes scopes, ParseDiscovery(response.body));
  into.merge(scopes);
  return absl::OkStatus();
}

std::optional<Scope> Discovery::ScopeOf(const CallContext& context, std::string_view group,
                                        std::string_view resource) {
  const ResourceName name{std::string(group), std::string(resource)};
  const std::optional<Scope> known = Known(name);
  if (known.has_value() || !TakeTurn()) return known;
  ResourceScopes scopes;
  // A failure leaves what was known; the next turn asks again.
  if (!Fetch(context, "/api", scopes).ok() || !Fetch(context, "/apis", scopes).ok()) return known;
  {
    MutexLock lock(mutex_);
    known_ = std::move(scopes);
  }
  return Known(name);
}

}  // namespace mandate
