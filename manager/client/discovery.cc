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
        const Scope of = scope == "Cluster" ? Scope::kCluster : Scope::kNamespaced;
        found.scopes.try_emplace({name, plural}, of);
        const Json::Value* response = FindMember(resource, "responseKind");
        const std::string kind = response == nullptr ? "" : Text(*response, "kind");
        const std::string served = Text(version, "version");
        if (kind.empty() || served.empty()) continue;
        found.kinds[{name, kind}].push_back({name, served, kind, plural, of});
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
  const std::string what = StrCat(name.second, " of group \"", name.first, "\"");
  return WhyUnknown(name.first, what, StrCat("whether ", what, " are namespaced"));
}

absl::StatusOr<DynamicKind> Discovery::KnownKind(const KindName& name,
                                                 std::string_view version) const {
  MutexLock lock(mutex_);
  const auto found = known_.kinds.find(name);
  if (found != known_.kinds.end()) {
    for (const DynamicKind& served : found->second) {
      if (version.empty() || served.version == version) return served;
    }
  }
  const std::string what = StrCat("kind ", name.second, " of group \"", name.first, "\"",
                                  version.empty() ? "" : " in version ", version);
  return WhyUnknown(name.first, what, StrCat("the resource of ", what));
}

absl::Status Discovery::WhyUnknown(std::string_view group, std::string_view what,
                                   std::string_view question) const {
  if (!last_answer_.ok()) {
    return absl::UnavailableError(
        StrCat("cannot determine ", question, ": ", AsStd(last_answer_.message())));
  }
  if (known_.incomplete.contains(std::string(group))) {
    return absl::UnavailableError(StrCat(
        "cannot determine ", question, ": the server has no fresh list of the group's resources"));
  }
  return absl::NotFoundError(StrCat("the server does not serve ", what));
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
  core.kinds.merge(groups.kinds);
  core.incomplete.merge(groups.incomplete);
  return core;
}

void Discovery::Refresh(const CallContext& context) {
  absl::StatusOr<DiscoveredResources> fetched = Fetch(context);
  MutexLock lock(mutex_);
  // After a failure the known resources stay; the next caller whose turn it is asks again.
  last_answer_ = fetched.status();
  if (!fetched.ok()) return;
  for (const auto& [old, scope] : known_.scopes) {
    if (fetched->incomplete.contains(old.first)) fetched->scopes.try_emplace(old, scope);
  }
  for (const auto& [old, served] : known_.kinds) {
    if (fetched->incomplete.contains(old.first)) fetched->kinds.try_emplace(old, served);
  }
  known_ = *std::move(fetched);
}

absl::StatusOr<Scope> Discovery::ScopeOf(const CallContext& context, std::string_view group,
                                         std::string_view resource) {
  const ResourceName name{std::string(group), std::string(resource)};
  absl::StatusOr<Scope> known = Known(name);
  if (known.ok() || !TakeTurn()) return known;
  Refresh(context);
  return Known(name);
}

absl::StatusOr<DynamicKind> Discovery::Find(const CallContext& context, std::string_view group,
                                            std::string_view kind, std::string_view version) {
  const KindName name{std::string(group), std::string(kind)};
  absl::StatusOr<DynamicKind> known = KnownKind(name, version);
  if (known.ok() || !TakeTurn()) return known;
  Refresh(context);
  return KnownKind(name, version);
}

}  // namespace mandate
