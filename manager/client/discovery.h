// Which resources a cluster serves, and whether they are namespaced.
#ifndef MANAGER_CLIENT_DISCOVERY_H_
#define MANAGER_CLIENT_DISCOVERY_H_

#include <map>
#include <optional>
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

// Reads an APIGroupDiscoveryList (apidiscovery.k8s.io/v2): /api's or /apis'.
absl::StatusOr<ResourceScopes> ParseDiscovery(std::string_view body);

// Asks the server when it is asked for a resource that it does not know, and no more often than
// every `min_interval`: new kinds come, but rarely. Thread-safe.
class Discovery {
 public:
  // `client` outlives this; every authenticated user may read discovery (system:discovery).
  explicit Discovery(RestClient& client, absl::Duration min_interval = absl::Seconds(30));

  // Nullopt: the server serves no such resource, or did not say. May block, within `context`; not
  // on the loop.
  std::optional<Scope> ScopeOf(const CallContext& context, std::string_view group,
                               std::string_view resource);

 private:
  std::optional<Scope> Known(const ResourceName& name) const;
  // Whether it is this caller's turn to ask.
  bool TakeTurn();
  absl::Status Fetch(const CallContext& context, std::string_view path, ResourceScopes& into);

  RestClient& client_;
  const absl::Duration min_interval_;
  mutable Mutex mutex_;
  ResourceScopes known_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_asked_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace mandate

#endif  // MANAGER_CLIENT_DISCOVERY_H_
