// A ModelWorld on the double, in virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "manager/cache/testing/model/model_world.h"
#include "manager/cache/testing/widget_server.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate::model {

// The server's side of a ScopedWorld, which outlives the cache.
class DoubledServer {
 protected:
  explicit DoubledServer(uint64_t seed);

  SimulatedLoop loop_;
  WidgetServer server_;
  std::vector<std::unique_ptr<FakeRestClient>> clients_;  // of the components
};

// Every action changes the cache or the server, and the model. Single-threaded.
class ScopedWorld : private DoubledServer, public ModelWorld {
 public:
  explicit ScopedWorld(uint64_t seed);

  // Objects. A component that writes knows of it.
  void Put(const ObjectKey& key, const ObjectLabels& labels, Component* writer = nullptr);
  void Delete(const ObjectKey& key);

  // Access.
  void Grant(const Component& component, const WatchScope& scope);
  void Revoke(const Component& component, const WatchScope& scope);
  void LoseCredential(Component& component);

  void Pause(Static& demand);
  void Resume(Static& demand);

  // Sets random faults, each up to its usual rate; no faults.
  void Storm();
  void Calm();

  SimulatedLoop& loop() { return DoubledServer::loop_; }
  WidgetServer& server() { return server_; }

 private:
  int ServerVersion() const override { return server_.revision(); }
};

}  // namespace mandate::model
