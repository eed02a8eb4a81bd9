// A cache on a real loop and a real transport, which any number of components read.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/core/event_loop.h"
#include "manager/core/metrics.h"
#include "manager/identity/identity_registry.h"
#include "manager/rbac/mandate.h"
#include "manager/transport/http_transport.h"

namespace mandate::bench {

inline constexpr KindInfo kConfigMaps = {.group = "",
                                         .version = "v1",
                                         .kind = "ConfigMap",
                                         .plural = "configmaps",
                                         .scope = Scope::kNamespaced,
                                         .encoding = Encoding::kProtobuf};
inline constexpr KindInfo kSecrets = {.group = "",
                                      .version = "v1",
                                      .kind = "Secret",
                                      .plural = "secrets",
                                      .scope = Scope::kNamespaced,
                                      .encoding = Encoding::kProtobuf};
inline constexpr std::string_view kNamespace = "bench";

inline constexpr std::array<std::string_view, 2> kReadVerbs = {"list", "watch"};
inline constexpr std::array<std::string_view, 1> kCoreGroup = {""};
inline constexpr std::array<std::string_view, 3> kResources = {"configmaps", "pods", "secrets"};
// The rules to read the ConfigMaps, Pods and Secrets of every namespace.
inline constexpr std::array<rbac::MandateRule, 1> kReadRules = {
    {{{kReadVerbs, kCoreGroup, kResources, {}, {}}, "", false}}};

// Only as thread-safe as its parts.
class Rig {
 public:
  struct Options {
    std::string kubeconfig;
    int components = 1;
    bool json = false;          // instead of protobuf
    bool list = false;          // instead of a watch that begins with the initial state
    bool uncompressed = false;  // the objects in the cache
    // Changes other options of the cache; null: none.
    std::function<void(Cache::Options&)> cache = nullptr;
  };

  static absl::StatusOr<std::unique_ptr<Rig>> Create(const Options& options);
  ~Rig();

  EventLoop& loop() { return *loop_; }
  Metrics& metrics() { return metrics_; }
  Cache& cache() { return *cache_; }
  const std::string& name(int component) const { return names_[static_cast<size_t>(component)]; }
  // Waits while the loop works.
  void WaitFor(absl::Duration duration);
  // As a manager that stops: in turn.
  void CloseWatches();
  CacheView& view(int component) { return *views_[static_cast<size_t>(component)]; }

 private:
  Rig() = default;
  absl::Status Build(const Options& options);

  Metrics metrics_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<HttpTransport> transport_;
  std::vector<std::string> names_;
  std::vector<rbac::Mandate> mandates_;
  std::unique_ptr<IdentityRegistry> identities_;
  std::vector<std::unique_ptr<ComponentClient>> clients_;
  std::unique_ptr<Cache> cache_;
  std::vector<CacheView*> views_;
};

}  // namespace mandate::bench
