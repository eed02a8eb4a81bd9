// The connections of one pool, and the requests that wait for one.
#pragma once

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

// Places each request on the open connection that its component hashes to while that has room, so
// that a component that breaks a connection hits few others. A component (a user agent) may have
// HttpOptions::component_share_factor times the places that are left, on connections and in the
// queue. Its requests beyond that wait, and do not delay those of others. The last places are for
// components that have one at most. Loop thread only.
class ConnectionPool : private Connection::Owner {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    // Calls Dispatch() soon, with no libcurl frame on the stack.
    virtual void ScheduleDispatch(ConnectionPool& pool) = 0;
    // How many connections the pool could get now.
    virtual size_t AvailableConnections(const ConnectionPool& pool) const = 0;
    // Takes one connection from the bound that all pools share. False: the pool has its share, or
    // others have waited longer. Dispatch() is called when the pool may have one.
    virtual bool AcquireConnection(ConnectionPool& pool) = 0;
    virtual void ReleaseConnection() = 0;
    // Closes an idle connection of a pool that has more connections than this one.
    virtual void CloseIdleConnection(const ConnectionPool& pool) = 0;
  };

  ConnectionPool(const ConnectionContext& context, Host& host);  // `host` outlives this
  ~ConnectionPool() override;

  // kResourceExhausted: too many requests are waiting.
  absl::Status Submit(std::shared_ptr<ActiveRequest> active);

  // Places the requests that wait, and removes dead connections: no other function destroys one.
  void Dispatch();

  // Ends all requests and connections.
  void Shutdown(const absl::Status& status);
  void SilenceStreams();
  // Connection::Probe() of each connection.
  void Probe();

  // It has no connections and no requests, and may be destroyed.
  bool empty() const { return connections_.empty() && waiting_.empty(); }
  size_t connections() const { return connections_.size(); }
  size_t waiting() const { return waiting_.size(); }
  // It was not granted a connection and waits for one.
  bool wants_connection() const { return wants_connection_; }
  // Whether it has an idle connection; CloseIdle() closes one.
  bool has_idle() const { return Idle() != nullptr; }
  void CloseIdle();
  void AddTo(HttpStats& stats) const;

 private:
  // The requests of one component in this pool.
  struct User {
    size_t active = 0;  // on connections
    size_t waiting = 0;
    bool blocked = false;  // during Dispatch(): the component has its share
  };
  struct Waiting {
    std::shared_ptr<ActiveRequest> active;
    User* user;  // an element of users_
  };

  // Connection::Owner.
  void OnCapacityChanged() override { host_.ScheduleDispatch(*this); }
  void OnRequestRemoved(const ActiveRequest& active) override;
  void Requeue(std::shared_ptr<ActiveRequest> active) override;
  void ConnectFailed(const absl::Status& status) override;

  void Enqueue(std::shared_ptr<ActiveRequest> active, bool in_front);
  void EndWaiting(const absl::Status& status);
  void RemoveDead();
  void RemoveOver();
  std::shared_ptr<ActiveRequest> Take(std::list<Waiting>::iterator at);
  // Whether the request must wait because its component has its share.
  bool IsBlocked(const Waiting& waiting);
  Connection* Idle() const;
  // The connection for a request of this component; null if none has room.
  Connection* Choose(const HttpRequest& request) const;
  // How many waiting requests will fit on the connections that are being made.
  size_t PendingCapacity() const;
  // How many more requests could be placed, on connections that can still be made too.
  size_t FreeCapacity() const;
  // Requests on connections.
  size_t Active() const;
  bool AcquireConnection();
  // Makes a connection that AcquireConnection() granted.
  absl::Status Connect();

  const ConnectionContext context_;
  Host& host_;
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  uint64_t next_connection_ = 0;
  std::list<Waiting> waiting_;
  std::unordered_map<std::string, User> users_;  // by user agent
  bool wants_connection_ = false;
  // Whether the last connection was multiplexed (HTTP/2).
  bool multiplexed_ = true;
};

}  // namespace mandate
