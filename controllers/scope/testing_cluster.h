// Both scope components on the double of an API server, in virtual time.
//
//   ScopeCluster cluster;
//   cluster.Create(kTemplates, DocumentTemplateJson());
//   cluster.Start();
//   cluster.Settle();
//   EXPECT_EQ(cluster.Scoped(), "True ScopingSuccessful: …");
#pragma once

#include <jsoncpp/json/json.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/metrics.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/transport.h"
#include "testing/apiserver/sim_server.h"

namespace mandate::scope {

// A resource as kubectl names it, and its path.
struct Resource {
  std::string_view group_path;  // "/apis/rbac.authorization.k8s.io/v1"
  std::string_view plural;
};
inline constexpr Resource kNamespaces{"/api/v1", "namespaces"};
inline constexpr Resource kTemplates{"/apis/operators.coreos.com/v1alpha1", "scopetemplates"};
inline constexpr Resource kInstances{"/apis/operators.coreos.com/v1alpha1", "scopeinstances"};
inline constexpr Resource kRoles{"/apis/rbac.authorization.k8s.io/v1", "clusterroles"};
inline constexpr Resource kBindings{"/apis/rbac.authorization.k8s.io/v1", "rolebindings"};
inline constexpr Resource kClusterBindings{"/apis/rbac.authorization.k8s.io/v1",
                                           "clusterrolebindings"};

// Single-threaded. Namespaces foo, bar and default exist. The components have exactly the
// permissions of their markers, except for the one in the environment variable MANDATE_WITHOUT.
class ScopeCluster {
 public:
  explicit ScopeCluster(InstanceOptions instance_options = {},
                        TemplateOptions template_options = {});
  ~ScopeCluster();

  // Starts and stops the components.
  void Start();
  void Stop();
  // Runs until all short tasks are done.
  void Settle() { loop_.RunFor(absl::Seconds(5)); }
  void RunFor(absl::Duration duration) { loop_.RunFor(duration); }

  // Stores an object (JSON) without access control and admission, as an older server may have.
  void Load(const std::string& json);
  // Send a request as an administrator and return the HTTP code. An empty `ns` means cluster scope.
  int Create(const Resource& resource, const Json::Value& object);
  int Delete(const Resource& resource, const std::string& name, const std::string& ns = "",
             const std::string& options = "");
  // Sends a merge patch; the default `field_manager` is kubectl's.
  int Merge(const Resource& resource, const std::string& name, const std::string& patch,
            const std::string& ns = "", const std::string& field_manager = "kubectl-patch");

  // The stored object, or null.
  Json::Value Get(const Resource& resource, const std::string& name,
                  const std::string& ns = "") const;
  // The objects with a label of the components. With `ns`, only in that namespace.
  std::vector<Json::Value> Ours(const Resource& resource, std::string_view ns = "") const;
  // The only one of these objects.
  Json::Value Our(const Resource& resource, std::string_view ns = "") const;

  // "True ScopingSuccessful: …" of the ScopeInstance; "" if it has no such condition.
  std::string Scoped(const std::string& instance = "foo") const;
  std::string Effective(const std::string& instance = "foo") const;
  std::string Templated(const std::string& name = "foo") const;

  // The components' writes since the last call, as "POST rolebindings bar", "PATCH clusterroles". A
  // server-side apply is a PATCH, even if it creates. Watches, reads and tokens are omitted.
  std::vector<std::string> TakeWrites();
  // The number of times that the components read all objects of a kind since the last call.
  int TakeLists() { return std::exchange(lists_, 0); }
  // "Warning ScopeInstance ScopingFailed".
  std::vector<std::string> events() const;

  apiserver::Faults& faults() { return server_->core().faults(); }
  SimulatedLoop& loop() { return loop_; }
  Metrics& metrics() { return metrics_; }
  // Removes a verb such as "bind" from the component's permissions, or restores it.
  void TakeRule(const std::string& component, const std::string& verb);
  // Removes list and watch of the resource from the component's permissions.
  void ForbidReading(const std::string& component, const std::string& resource);
  void ReturnRules(const std::string& component);
  // Called for each write of a component. If it returns a response, the server gets no request.
  std::function<std::optional<HttpResponse>(const std::string& write)> intercept;
  // Whether the components' requests for discovery fail.
  std::function<bool()> intercept_discovery;

 private:
  class Wire;
  struct Process;

  int Request(const std::string& method, const std::string& target, const std::string& body,
              const std::string& content_type);
  std::string ConditionOf(const Resource& resource, const std::string& name,
                          std::string_view type) const;
  void SetRules(const std::string& component, std::string_view without_verb,
                std::string_view unread);

  const InstanceOptions instance_options_;
  const TemplateOptions template_options_;
  SimulatedLoop loop_;
  Metrics metrics_;
  int lists_ = 0;
  const MandateServer template_rights_;
  const MandateServer instance_rights_;
  std::unique_ptr<apiserver::SimServer> server_;
  std::unique_ptr<Wire> wire_;
  FakeEventRecorder events_;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Process>> stopped_;  // tasks of the loop refer to their pools
};

}  // namespace mandate::scope
