// A component of this folder on the double of an API server, in virtual time.
#pragma once

#include <jsoncpp/json/json.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/metrics.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "testing/apiserver/sim_server.h"

namespace mandate {

// Single-threaded. The component has its permissions to its own kind, whose group is `group`; tests
// grant the others. The environment variable MANDATE_WITHOUT removes one permission.
class OperatorCluster {
 public:
  struct Options {
    const rbac::Mandate& mandate;
    std::function<absl::StatusOr<std::unique_ptr<Controller>>(const Component&)> make;
    std::string group;
    std::string definition;  // the file of the CRD
    std::vector<std::string> namespaces;
    size_t max_watch_bytes = size_t{1} << 30;  // of objects: an open watch counts nothing here
  };
  explicit OperatorCluster(Options options);
  ~OperatorCluster();

  void Start();
  void Stop();
  // Runs until all short tasks are done.
  void Settle() { loop_.RunFor(absl::Seconds(5)); }
  void RunFor(absl::Duration duration) { loop_.RunFor(duration); }

  // Sends a request as an administrator, and returns the HTTP code.
  int Send(const std::string& method, const std::string& target, const std::string& body);
  // Binds a ClusterRole to the component in a namespace; empty: in the cluster.
  void Bind(const std::string& ns, const std::string& role);
  void Unbind(const std::string& ns, const std::string& role);
  // A ClusterRole in JSON: the mandate's rules for other groups, without the verb.
  std::string NeedsRole(const std::string& name, std::string_view without_verb = "") const;

  // The stored object; null: absent.
  Json::Value Get(std::string_view group, std::string_view plural, const std::string& ns,
                  const std::string& name) const;
  // The open watches of the component, as "pods in denied", "secrets a/b", "secrets".
  std::vector<std::string> Streams() const;
  // The component's writes since the last call, as "PATCH /apis/…".
  std::vector<std::string> TakeWrites();
  const LogCapture& log() const { return *log_; }
  apiserver::Faults& faults() { return server_->core().faults(); }

  // Called for each write of the component. If it returns a response, the server gets no request.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> intercept;

 private:
  class Wire;
  struct Process;

  std::string RoleOf(const std::string& name, bool own, std::string_view without_verb) const;

  const Options options_;
  SimulatedLoop loop_;
  Metrics metrics_;
  const std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>(1);
  const MandateServer rights_;
  std::unique_ptr<apiserver::SimServer> server_;
  std::unique_ptr<Wire> wire_;
  FakeEventRecorder events_;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Process>> stopped_;  // tasks of the loop refer to their pools
};

}  // namespace mandate
