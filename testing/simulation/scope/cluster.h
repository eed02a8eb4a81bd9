// The cluster of one run: the double of the API server with the objects of the
// chart, users who declare things, and parts of kube-controller-manager.
#pragma once

#include <jsoncpp/json/json.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manager/core/testing/simulated_loop.h"
#include "manager/rbac/mandate.h"
#include "testing/apiserver/sim_server.h"
#include "testing/simulation/scope/installed.h"

namespace mandate::simulation {

// The kinds of the run.
const apiserver::GroupResource& Templates();
const apiserver::GroupResource& Instances();
const apiserver::GroupResource& Namespaces();
const apiserver::GroupResource& ClusterRoles();
const apiserver::GroupResource& RoleBindings();
const apiserver::GroupResource& ClusterRoleBindings();

// "/apis/…/namespaces/ns/rolebindings/name"; without `name`, of the collection.
std::string PathOf(const apiserver::GroupResource& kind, std::string_view ns,
                   std::string_view name = "");

// Single-threaded.
class Cluster {
 public:
  Cluster(SimulatedLoop& loop, uint64_t seed);  // `loop` outlives this
  ~Cluster();

  apiserver::SimServer& server() { return *server_; }
  apiserver::ServerCore& core() { return server_->core(); }
  apiserver::Store& store() { return server_->core().store(); }
  SimulatedLoop& loop() { return loop_; }

  // Every object of a kind, as JSON, by namespace and name.
  std::vector<Json::Value> List(const apiserver::GroupResource& kind);
  // Null if it does not exist.
  Json::Value Get(const apiserver::GroupResource& kind, std::string_view ns, std::string_view name);

  // Sends a request of the administrator. Returns the HTTP code, or -1 without an answer. Advances
  // the time.
  int Create(const apiserver::GroupResource& kind, const Json::Value& object);
  int Merge(const apiserver::GroupResource& kind, std::string_view ns, std::string_view name,
            const std::string& patch);
  // `policy`: "Foreground", "Orphan", or empty.
  int Delete(const apiserver::GroupResource& kind, std::string_view ns, std::string_view name,
             std::string_view policy = "");
  int Do(const std::string& method, const std::string& target, const std::string& body,
         const std::string& content_type = "application/json");
  // Like Do(), but returns at once. The result is 0 until the answer arrives.
  std::shared_ptr<const int> Send(const std::string& method, const std::string& target,
                                  const std::string& body,
                                  const std::string& content_type = "application/json");

  // Grants the component the permissions of its markers, except `without_verb` of
  // `without_resource`. If both are empty, grants all permissions.
  void Grant(const rbac::Mandate& mandate, std::string_view without_verb = "",
             std::string_view without_resource = "");
  // Creates or deletes the component's role binding.
  void Bind(const rbac::Mandate& mandate, bool bound);
  // Replaces the component's ServiceAccount: tokens of the old one are rejected.
  void RenewAccount(const rbac::Mandate& mandate);
  // Removes the kind with all its objects, or serves it again.
  void Serve(const apiserver::GroupResource& kind, bool served);
  bool Serves(const apiserver::GroupResource& kind) const;

  // Sets the only listener, which is called at once for each audit event or for each change of an
  // object. It must not write.
  void OnAudit(std::function<void(const Json::Value&)> listener) { audit_ = std::move(listener); }
  void OnChange(std::function<void(const apiserver::Change&)> listener) {
    change_ = std::move(listener);
  }

 private:
  apiserver::SimOptions ServerOptions(uint64_t seed);
  // Plays the garbage collector once it can look up owners of this kind again: deletes the objects
  // of owners that were removed with the kind.
  void CollectOrphansOf(const apiserver::GroupResource& kind);

  SimulatedLoop& loop_;
  std::function<void(const Json::Value&)> audit_;
  std::function<void(const apiserver::Change&)> change_;
  std::map<apiserver::GroupResource, Json::Value> definitions_;
  std::unique_ptr<apiserver::SimServer> server_;
};

}  // namespace mandate::simulation
