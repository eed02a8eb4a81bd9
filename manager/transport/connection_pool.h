// The connections of one pool, and the requests that wait for one.
#ifndef MANAGER_TRANSPORT_CONNECTION_POOL_H_
#define MANAGER_TRANSPORT_CONNECTION_POOL_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "manager/transport/active_request.h"
#include "manager/transport/connection.h"
#include "manager/transport/http_options.h"

namespace mandate {

// Places each request on the open connection that its component hashes to, as long as one has room,
// so that what one component does to a connection hits few others. A component (a user agent) may
// have HttpOptions::share times the places that are left, on connections and in the queue: its
// requests wait beyond that, without keeping those of others waiting. The last places are for
// components that have one at most. Loop thread only.
class ConnectionPool : private Connection::Owner {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    // Calls Pump() soon, at the loop's top level.
    virtual void WantsPump(ConnectionPool& set) = 0;
    // How many connections the pool would get now.
    virtual size_t Grantable(const ConnectionPool& set) const = 0;
    // Of the connections of all pools together; false: the pool has its share, or others waited
    // longer. Pump() is called when it may have one.
    virtual bool AcquireConnection(ConnectionPool& set) = 0;
    virtual void ReleaseConnection() = 0;
    // Closes an idle connection of a pool that has more of them.
    virtual void MakeRoom(const ConnectionPool& set) = 0;
  };

  ConnectionPool(const ConnectionContext& parts, Host& host);  // `host` outlives this
  ~ConnectionPool() override;

  // kResourceExhausted: too many wait already.
  absl::Status Submit(std::shared_ptr<ActiveRequest> active);

  // Places what waits and clears up. Nothing else destroys a connection.
  void Pump();

  // Ends everything.
  void Shutdown(const absl::Status& status);
  void Silence();
  // Connection::Probe() of each.
  void Probe();

  // Holds nothing and may be destroyed.
  bool empty() const { return connections_.empty() && waiting_.empty(); }
  size_t connections() const { return connections_.size(); }
  size_t waiting() const { return waiting_.size(); }
  // It waits for a connection that it was not granted.
  bool wants_connection() const { return wants_connection_; }
  // Whether nothing uses one of its connections, and giving that one up.
  bool has_idle() const { return Idle() != nullptr; }
  void CloseIdle();
  void AddTo(HttpStats& stats) const;

 private:
  // What one component has of this pool.
  struct User {
    size_t active = 0;  // on connections
    size_t waiting = 0;
    bool blocked = false;  // within Pump(): it may have no more
  };
  struct Waiting {
    std::shared_ptr<ActiveRequest> active;
    User* user;  // of users_
  };

  // Connection::Owner.
  void Changed() override { host_.WantsPump(*this); }
  void Left(const ActiveRequest& active) override;
  void Requeue(std::shared_ptr<ActiveRequest> active) override;
  void ConnectFailed(const absl::Status& status) override;

  void Enqueue(std::shared_ptr<ActiveRequest> active, bool in_front);
  void EndWaiting(const absl::Status& status);
  void RemoveDead();
  void RemoveOver();
  std::shared_ptr<ActiveRequest> Take(std::list<Waiting>::iterator at);
  // Whether the request must wait since its component has its share.
  bool IsBlocked(const Waiting& waiting);
  Connection* Idle() const;
  // The connection for a request of this component; null: none has room.
  Connection* Choose(const HttpRequest& request) const;
  // How many of those that wait will fit on connections that are being made.
  size_t PromisedRoom() const;
  // How many more requests could be placed, also on connections that can still be had.
  size_t FreePlaces() const;
  // Requests on connections.
  size_t Active() const;
  bool AcquireConnection();
  // Makes the connection that was acquired.
  absl::Status Connect();

  const ConnectionContext parts_;
  Host& host_;
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  uint64_t next_connection_ = 0;
  std::list<Waiting> waiting_;
  std::unordered_map<std::string, User> users_;  // by user agent
  bool wants_connection_ = false;
  // What the last connection turned out to be.
  bool multiplexed_ = true;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CONNECTION_POOL_H_
