// The resources that a cluster serves: whether they are namespaced, and of which kind they are.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/core/mutex.h"
#include "manager/object/dynamic_kind.h"
#include "manager/object/kind.h"

namespace mandate {

// Group ("" is core) and plural name.
using ResourceName = std::pair<std::string, std::string>;
using ResourceScopes = std::map<ResourceName, Scope>;

// Group ("" is core) and kind; the versions in the order in which the server prefers them.
using KindName = std::pair<std::string, std::string>;
using ResourceKinds = std::map<KindName, std::vector<DynamicKind>>;

struct DiscoveredResources {
  ResourceScopes scopes;
  ResourceKinds kinds;
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

  // The resource of a kind, as controller-runtime's RESTMapper finds it, in this version; `version`
  // empty: in the one that the server prefers. Errors and threads are those of ScopeOf().
  //
  //   ASSIGN_OR_RETURN(const DynamicKind widget, discovery.Find(context, "example.com", "Widget"));
  //   unstructured.Get(context, widget.info(), key);
  absl::StatusOr<DynamicKind> Find(const CallContext& context, std::string_view group,
                                   std::string_view kind, std::string_view version = "");

  absl::Duration min_interval() const { return min_interval_; }

 private:
  absl::StatusOr<Scope> Known(const ResourceName& name) const;
  absl::StatusOr<DynamicKind> KnownKind(const KindName& name, std::string_view version) const;
  // Why `what` of the group is not known; `question` is what cannot be answered.
  absl::Status WhyUnknown(std::string_view group, std::string_view what,
                          std::string_view question) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Asks the server for everything.
  void Refresh(const CallContext& context);
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
