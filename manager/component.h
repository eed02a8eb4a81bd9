// One component as its controllers and webhooks see it: its own client, its own view of the cache,
// its own event recorder, and the parts that all components share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/access_hints.h"
#include "manager/admission/webhook.h"
#include "manager/client/rest_client.h"
#include "manager/controller/controller.h"
#include "manager/controller/event_recorder.h"
#include "manager/rbac/mandate.h"
#include "manager/runnable.h"

namespace mandate {

// Borrows everything from the Manager, which outlives it. Immutable. The objects that it refers to
// document their own thread safety.
struct Component {
  const rbac::Mandate& mandate;
  RestClient& client;
  EventRecorder& events;
  // The view of the cache, the loop, the workers, logs and metrics.
  ControllerContext controller_context;
  std::string_view ns = {};             // the manager's namespace
  AccessHints* access_hints = nullptr;  // always set by the Manager
  std::string cluster = {};             // ComponentSpec::cluster

  std::string_view name() const { return mandate.component; }
  CacheView& cache() const { return controller_context.cache; }
  const Clock& clock() const { return controller_context.loop.clock(); }
};

using Controllers = std::vector<std::unique_ptr<Controller>>;
using Runnables = std::vector<Runnable>;

// One component of a program, and the functions that make its controllers, its webhooks and its
// other work. Each function may be empty.
struct ComponentSpec {
  const rbac::Mandate* mandate = nullptr;  // a constant of the program
  std::function<absl::StatusOr<Controllers>(const Component&)> make_controllers = {};
  std::function<absl::StatusOr<Webhooks>(const Component&)> make_webhooks = {};
  // A further condition of the component's readiness (/readyz/COMPONENT). Any thread; returns at
  // once.
  std::function<absl::Status()> ready = {};
  std::function<absl::StatusOr<Runnables>(const Component&)> make_runnables = {};
  // Where its identity, its client and its cache are: one of ManagerOptions::clusters; empty: the
  // manager's own cluster.
  std::string cluster = {};
};

// The `make_controllers` of a component whose only controller `kMake` creates.
template <auto kMake>
absl::StatusOr<Controllers> MakeOnlyController(const Component& component) {
  auto controller = kMake(component);
  if (!controller.ok()) return std::move(controller).status();
  Controllers controllers;
  controllers.push_back(*std::move(controller));
  return controllers;
}

}  // namespace mandate
