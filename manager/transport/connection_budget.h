// The connections of one class of requests (calls or streams), shared by its pools.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "manager/transport/active_request.h"
#include "manager/transport/connection.h"
#include "manager/transport/connection_pool.h"
#include "manager/transport/http_options.h"

namespace mandate {

// A bound on connections and the pools that share them. A pool may have
// HttpOptions::component_share_factor times the connections that are left. Pools that want one wait
// in turn. An idle connection is closed in favour of a pool that has fewer. Two budgets share
// nothing: neither waits for a connection of the other. Loop thread only.
class ConnectionBudget : private ConnectionPool::Host {
 public:
  // The objects that `context` refers to outlive this. `schedule_dispatch` calls Dispatch() soon,
  // in a task of its own.
  ConnectionBudget(const ConnectionContext& context, size_t limit,
                   std::function<void()> schedule_dispatch);
  ~ConnectionBudget() override = default;

  // kResourceExhausted: too many requests are waiting.
  absl::Status Submit(std::shared_ptr<ActiveRequest> active);

  // Places the requests that wait, and removes what is dead.
  void Dispatch();

  // Streams get nothing more but their end.
  void SilenceStreams();
  // Probes all connections that have been silent.
  void Probe();
  // Ends all requests and connections.
  void Shutdown(const absl::Status& status);

  size_t connections() const { return connections_; }
  void AddTo(HttpStats& stats) const;

 private:
  // ConnectionPool::Host.
  void ScheduleDispatch(ConnectionPool& pool) override;
  size_t AvailableConnections(const ConnectionPool& pool) const override;
  bool AcquireConnection(ConnectionPool& pool) override;
  void ReleaseConnection() override;
  void CloseIdleConnection(const ConnectionPool& pool) override;

  // Called after connections became free: all that waits is looked at again.
  void PumpWaiting();

  const ConnectionContext context_;
  const size_t limit_;
  const std::function<void()> schedule_dispatch_;
  std::map<std::string, std::unique_ptr<ConnectionPool>> pools_;  // by PoolKeyOf()
  std::set<ConnectionPool*> wanting_;
  std::deque<ConnectionPool*> queue_;  // pools that wait for a connection
  size_t connections_ = 0;
  bool dispatch_scheduled_ = false;
};

}  // namespace mandate
