// The component on the double of an API server, in virtual time.
//
//   MemcachedCluster cluster;
//   cluster.Start();
//   cluster.Create("allowed-one", 2);
//   cluster.Settle();
//   EXPECT_EQ(cluster.State("allowed-one"), "Succeeded: …");
#pragma once

#include <jsoncpp/json/json.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "controllers/memcached/reconciler.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/metrics.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "testing/apiserver/sim_server.h"

namespace mandate::memcached {

// Single-threaded. The namespaces are the document's: allowed-one and allowed-two, where the
// component has its permissions, and denied. The Memcached of a namespace NS, its Deployment and
// its label are named by NameIn(NS). The component has the permissions of its markers, except for
// the one in the environment variable MANDATE_WITHOUT.
class MemcachedCluster {
 public:
  MemcachedCluster();
  ~MemcachedCluster();

  void Start();
  void Stop();
  // Runs until all short tasks are done.
  void Settle() { loop_.RunFor(absl::Seconds(5)); }
  void RunFor(absl::Duration duration) { loop_.RunFor(duration); }

  // The permissions to Deployments and Pods in a namespace.
  void Grant(const std::string& ns);
  void Revoke(const std::string& ns);
  // Gives the role only the verbs that are not `verb`; empty: all verbs.
  void TakeVerb(std::string_view verb);

  static std::string NameIn(const std::string& ns) { return "memcached-sample-" + ns; }
  void Create(const std::string& ns, int size);
  void Resize(const std::string& ns, int size);
  void Delete(const std::string& ns);
  // A Pod as the ReplicaSet controller would make it.
  void CreatePod(const std::string& ns, const std::string& name);

  // Sends a request as an administrator, and returns the HTTP code.
  int Send(const std::string& method, const std::string& target, const std::string& body);
  // The stored objects; null: absent.
  Json::Value Memcached(const std::string& ns) const;
  Json::Value Deployment(const std::string& ns) const;
  // "Succeeded: MESSAGE", or "" without a status.
  std::string State(const std::string& ns) const;
  std::vector<std::string> Nodes(const std::string& ns) const;

  // The open watches of the component: of Deployments and Pods in a namespace, and all.
  int Streams(const std::string& ns) const;
  int Streams() const;
  // The requests for Deployments and Pods since the last call, but for watches.
  int TakeCalls();
  // The component's writes since the last call, as "PATCH deployments".
  std::vector<std::string> TakeWrites();
  const LogCapture& log() const { return *log_; }
  apiserver::Faults& faults() { return server_->core().faults(); }

 private:
  class Wire;
  struct Process;

  Json::Value Get(std::string_view group, std::string_view plural, const std::string& ns,
                  const std::string& name) const;
  std::string NeedsRole(std::string_view without) const;

  SimulatedLoop loop_;
  Metrics metrics_;
  const std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>(1);
  const MandateServer rights_{kMemcached};
  std::unique_ptr<apiserver::SimServer> server_;
  std::unique_ptr<Wire> wire_;
  FakeEventRecorder events_;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Process>> stopped_;  // tasks of the loop refer to their pools
};

}  // namespace mandate::memcached
