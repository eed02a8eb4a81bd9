// An administrator of a cluster: a client that may do everything, and a view of its objects.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/core/event_loop.h"
#include "manager/core/metrics.h"
#include "manager/identity/identity_registry.h"
#include "manager/kubeconfig/cluster_config.h"
#include "manager/rbac/mandate.h"
#include "manager/transport/http_transport.h"

namespace mandate {

namespace administrator_internal {
inline constexpr std::string_view kAll[] = {"*"};
inline constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAll, .api_groups = kAll, .resources = kAll}}};
}  // namespace administrator_internal

// The mandate of the client. The name is also the field manager of its writes.
inline constexpr rbac::Mandate kAdministrator = {.component = "administrator",
                                                 .rules = administrator_internal::kRules};

// Has a loop of its own. Thread-safe, except its destructor.
class Administrator {
 public:
  // `cluster` has the administrator's credential. Sends nothing.
  static absl::StatusOr<std::unique_ptr<Administrator>> Create(ClusterConfig cluster);
  // No call is in progress any more.
  ~Administrator();
  Administrator(const Administrator&) = delete;
  Administrator& operator=(const Administrator&) = delete;

  RestClient& client() { return *client_; }
  CacheView& view() { return *view_; }
  Loop& loop() { return *loop_; }
  // The context of a call that may take this long.
  CallContext Within(absl::Duration duration) const {
    return {loop_->clock().TimeNow() + duration, {}};
  }

 private:
  Administrator() = default;
  absl::Status Build(ClusterConfig cluster);

  Metrics metrics_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<IdentityRegistry> identities_;
  std::unique_ptr<ComponentClient> client_;
  std::unique_ptr<Cache> cache_;
  CacheView* view_ = nullptr;
};

}  // namespace mandate
