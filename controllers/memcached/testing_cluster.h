// The component memcached on the double of an API server, in virtual time.
//
//   MemcachedCluster cluster;
//   cluster.Start();
//   cluster.Create("allowed-one", 2);
//   cluster.Settle();
//   EXPECT_EQ(cluster.State("allowed-one"), "Succeeded: …");
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "controllers/memcached/testing_operator.h"

namespace mandate::memcached {

// Single-threaded. The namespaces are the document's: allowed-one and allowed-two, where the
// component has its permissions, and denied. The Memcached of a namespace NS, its Deployment and
// its label are named by NameIn(NS).
class MemcachedCluster : public OperatorCluster {
 public:
  explicit MemcachedCluster(size_t max_watch_bytes = size_t{1} << 30);

  // The permissions to Deployments and Pods in a namespace.
  void Grant(const std::string& ns) { Bind(ns, kNeedsRole); }
  void Revoke(const std::string& ns) { Unbind(ns, kNeedsRole); }
  // Gives the role only the verbs that are not `verb`; empty: all verbs.
  void TakeVerb(std::string_view verb);

  static std::string NameIn(const std::string& ns) { return "memcached-sample-" + ns; }
  void Create(const std::string& ns, int size);
  void Resize(const std::string& ns, int size);
  void Delete(const std::string& ns);
  // A Pod as the ReplicaSet controller would make it, with this annotation.
  void CreatePod(const std::string& ns, const std::string& name,
                 const std::string& annotation = "");

  // The stored objects; null: absent.
  Json::Value Memcached(const std::string& ns) const;
  Json::Value Deployment(const std::string& ns) const;
  // "Succeeded: MESSAGE", or "" without a status.
  std::string State(const std::string& ns) const;
  std::vector<std::string> Nodes(const std::string& ns) const;

 private:
  static constexpr char kNeedsRole[] = "scoped-operator-needs";
};

}  // namespace mandate::memcached
