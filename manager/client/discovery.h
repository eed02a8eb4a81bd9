// The resources that a cluster serves, and whether they are namespaced.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate {

// Group ("" is core) and plural name.
using ResourceName = std::pair<std::string, std::string>;
using ResourceScopes = std::map<ResourceName, Scope>;

struct DiscoveredResources {
  ResourceScopes scopes;
  // Groups that have a stale version, or one without resources, for example while the server of an
  // APIService is down. What else such a group serves is unknown.
  std::set<std::string> incomplete;
};

// Reads an APIGroupDiscoveryList (apidiscovery.k8s.io/v2): /api's or /apis'.
absl::StatusOr<DiscoveredResources> ParseDiscovery(std::string_view body);

// Asks the server when a resource is unknown, but at most once in `min_interval`: new kinds are
// rare. Thread-safe.
class Discovery {
 public:
  // `client` outlives this. Every authenticated user may read discovery (system:discovery).
  explicit Discovery(RestClient& client, absl::Duration min_interval = absl::Seconds(30));

  // kNotFound: the server does not serve the resource. kUnavailable: still unknown; ask again after
  // min_interval(). May block, within `context`; not on the loop.
  absl::StatusOr<Scope> ScopeOf(const CallContext& context, std::string_view group,
                                std::string_view resource);

  absl::Duration min_interval() const { return min_interval_; }

 private:
  absl::StatusOr<Scope> Known(const ResourceName& name) const;
  // Whether it is this caller's turn to ask.
  bool TakeTurn();
  absl::StatusOr<DiscoveredResources> Fetch(const CallContext& context);
  absl::StatusOr<DiscoveredResources> FetchFrom(const CallContext& context, std::string_view path);

  RestClient& client_;
  const absl::Duration min_interval_;
  mutable Mutex mutex_;
  DiscoveredResources known_ ABSL_GUARDED_BY(mutex_);
  absl::Status last_answer_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_asked_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace mandate
