// The connections of one class of requests (calls, or streams), and how pools share them.
#ifndef MANAGER_TRANSPORT_CONNECTION_BUDGET_H_
#define MANAGER_TRANSPORT_CONNECTION_BUDGET_H_

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

// A bound on connections with the pools under it. A pool may have HttpOptions::share times the
// connections that are left; pools that want one wait in turn; an idle connection is closed for a
// pool that has fewer. Two budgets have nothing in common: what one holds the other never waits
// for. Loop thread only.
class ConnectionBudget : private ConnectionPool::Host {
 public:
  // What `parts` refers to outlives this. `schedule_pump`: calls Pump() soon, as a task of its own.
  ConnectionBudget(const ConnectionContext& parts, size_t limit,
                   std::function<void()> schedule_pump);
  ~ConnectionBudget() override = default;

  // kResourceExhausted: too many wait already.
  absl::Status Submit(std::shared_ptr<ActiveRequest> active);

  // Places what waits, and clears up.
  void Pump();

  // Streams hear no more but their end.
  void Silence();
  // Asks all connections that have been silent whether they are alive.
  void Probe();
  // Ends everything.
  void Shutdown(const absl::Status& status);

  size_t connections() const { return connections_; }
  void AddTo(HttpStats& stats) const;

 private:
  // ConnectionPool::Host.
  void WantsPump(ConnectionPool& set) override;
  size_t Grantable(const ConnectionPool& set) const override;
  bool AcquireConnection(ConnectionPool& set) override;
  void ReleaseConnection() override;
  void MakeRoom(const ConnectionPool& set) override;

  // After connections became free: everything that waits looks again.
  void PumpWaiting();

  const ConnectionContext parts_;
  const size_t limit_;
  const std::function<void()> schedule_pump_;
  std::map<std::string, std::unique_ptr<ConnectionPool>> sets_;  // by PoolKeyOf()
  std::set<ConnectionPool*> wanting_;
  std::deque<ConnectionPool*> queue_;  // for a connection
  size_t connections_ = 0;
  bool pump_scheduled_ = false;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CONNECTION_BUDGET_H_
