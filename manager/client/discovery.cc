#include "manager/client/discovery.h"

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

constexpr char kAccept[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

std::string Text(const Json::Value& object, const char* member) {
  const Json::Value* value = FindMember(object, member);
  return value != nullptr && value->isString() ? value->asString() : "";
}

// The array `member` of `object`; empty if it is missing or not an array.
const Json::Value& Array(const Json::Value& object, const char* member) {
  static const Json::Value kNone(Json::arrayValue);
  const Json::Value* value = FindMember(object, member);
  return value != nullptr && value->isArray() ? *value : kNone;
}

}  // namespace

absl::StatusOr<DiscoveredResources> ParseDiscovery(std::string_view body) {
  ASSIGN_OR_RETURN(const Json::Value root, ParseJson(body));
  if (Text(root, "kind") != "APIGroupDiscoveryList") {
    return absl::InvalidArgumentError(
        "the server's discovery document is not an APIGroupDiscoveryList (Kubernetes 1.30 or newer "
        "serves it)");
  }
  DiscoveredResources found;
  for (const Json::Value& group : Array(root, "items")) {
    const Json::Value* metadata = FindMember(group, "metadata");
    const std::string name = metadata == nullptr ? "" : Text(*metadata, "name");
    if (Array(group, "versions").empty()) found.incomplete.insert(name);
    for (const Json::Value& version : Array(group, "versions")) {
      if (Array(version, "resources").empty() || Text(version, "freshness") == "Stale") {
        found.incomplete.insert(name);
      }
      for (const Json::Value& resource : Array(version, "resources")) {
        const std::string plural = Text(resource, "resource");
        const std::string scope = Text(resource, "scope");
        // An entry with missing fields is treated as not served.
        if (plural.empty() || (scope != "Cluster" && scope != "Namespaced")) continue;
        // The first version is the preferred one; only that one counts.
        found.scopes.try_emplace({name, plural},
                                 scope == "Cluster" ? Scope::kCluster : Scope::kNamespaced);
      }
    }
  }
  return found;
}

Discovery::Discovery(RestClient& client, absl::Duration min_interval)
    : client_(client),
      min_interval_(min_interval),
      last_answer_(absl::UnavailableError("the server has not been asked yet")) {}

absl::StatusOr<Scope> Discovery::Known(const ResourceName& name) const {
  MutexLock lock(mutex_);
  const auto found = known_.scopes.find(name);
  if (found != known_.scopes.end()) return found->second;
  const auto& [group, resource] = name;
  if (!last_answer_.ok()) {
    return absl::UnavailableError(StrCat("cannot determine whether ", resource, " of group \"",
                                         group,
                                         "\" are namespaced: ", AsStd(last_answer_.message())));
  }
  if (known_.incomplete.contains(group)) {
    return absl::UnavailableError(StrCat("cannot determine whether ", resource, " of group \"",
                                         group,
                                         "\" are namespaced: the server has no fresh "
                                         "list of the group's resources"));
  }
  return absl::NotFoundError(
      StrCat("the server does not serve ", resource, " of group \"", group, "\""));
}

bool Discovery::TakeTurn() {
  const absl::Time now = client_.loop().clock().TimeNow();
  MutexLock lock(mutex_);
  if (now < last_asked_ + min_interval_) return false;
  last_asked_ = now;
  return true;
}

absl::StatusOr<DiscoveredResources> Discovery::FetchFrom(const CallContext& context,
                                                         std::string_view path) {
  RestRequest request;
  request.method = "GET";
  request.target = std::string(path);
  request.accept = kAccept;
  ASSIGN_OR_RETURN(const HttpResponse response, client_.Do(context, std::move(request)));
  return ParseDiscovery(response.body);
}

absl::StatusOr<DiscoveredResources> Discovery::Fetch(const CallContext& context) {
  ASSIGN_OR_RETURN(DiscoveredResources core, FetchFrom(context, "/api"));
  ASSIGN_OR_RETURN(DiscoveredResources groups, FetchFrom(context, "/apis"));
  core.scopes.merge(groups.scopes);
  core.incomplete.merge(groups.incomplete);
  return core;
}

absl::StatusOr<Scope> Discovery::ScopeOf(const CallContext& context, std::string_view group,
                                         std::string_view resource) {
  const ResourceName name{std::string(group), std::string(resource)};
  const absl::StatusOr<Scope> known = Known(name);
  if (known.ok() || !TakeTurn()) return known;
  absl::StatusOr<DiscoveredResources> fetched = Fetch(context);
  {
    MutexLock lock(mutex_);
    // After a failure the known resources stay; the next caller whose turn it is asks again.
    last_answer_ = fetched.status();
    if (fetched.ok()) {
      for (const auto& [old, scope] : known_.scopes) {
        if (fetched->incomplete.contains(old.first)) fetched->scopes.try_emplace(old, scope);
      }
      known_ = *std::move(fetched);
    }
  }
  return Known(name);
}

}  // namespace mandate
