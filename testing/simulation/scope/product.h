// Assembles the product in one process, on any loop and transport: both scope controllers with
// their identities, clients, guards, caches, event recorders and preflights.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/controller/rest_event_recorder.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"
#include "manager/identity/identity_registry.h"
#include "manager/preflight_loop.h"
#include "manager/running_component.h"
#include "manager/transport/transport.h"

namespace mandate::simulation {

// Create, Start() and destroy it on the loop; Stop() not on a real loop.
class Product {
 public:
  struct Options {
    Loop& loop;
    Transport& transport;
    Executor& workers;  // all outlive this
    Endpoint endpoint;
    uint64_t seed = 1;
    std::string ns;          // of the manager
    std::string base_token;  // content of base's token file
  };

  explicit Product(Options options);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void Start();
  // Ends the controllers. Returns false if some still ran at the deadline.
  bool Stop(absl::Time deadline);
  // OK, or the reason of the first component that is not ready. Any thread.
  absl::Status Ready() const;
  Metrics& metrics() { return metrics_; }

 private:
  void BuildIdentities();
  void BuildComponents();
  void BuildPreflights();

  const Options options_;
  Metrics metrics_;
  std::unique_ptr<IdentityRegistry> identities_;
  std::vector<std::unique_ptr<ComponentClient>> clients_;
  std::vector<std::unique_ptr<RestEventRecorder>> recorders_;
  std::unique_ptr<Cache> cache_;
  std::vector<std::unique_ptr<RunningComponent>> components_;
  std::vector<std::unique_ptr<PreflightLoop>> preflights_;
  std::map<std::string, RunningComponent*, std::less<>> by_name_;
};

}  // namespace mandate::simulation
