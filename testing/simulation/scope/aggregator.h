// Plays kube-controller-manager's clusterrole-aggregation-controller: a ClusterRole with an
// aggregationRule gets the rules of the roles that it selects.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "manager/core/weak_self.h"
#include "testing/simulation/scope/cluster.h"

namespace mandate::simulation {

// Single-threaded.
class Aggregator {
 public:
  explicit Aggregator(Cluster& cluster);  // outlives this
  ~Aggregator();
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;

  // It stops writing at kTooMany: another writer overwrites the same role again and again.
  static constexpr int64_t kTooMany = 200;
  int64_t writes() const { return writes_; }

 private:
  void Aggregate(const std::string& name);

  Cluster& cluster_;
  uint64_t subscription_ = 0;
  WeakSelf weak_;
  int64_t writes_ = 0;
};

}  // namespace mandate::simulation
