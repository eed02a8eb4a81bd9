// The connections of one pool, and the requests that wait for one.
#ifndef MANAGER_TRANSPORT_SHARD_SET_H_
#define MANAGER_TRANSPORT_SHARD_SET_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "manager/transport/exchange.h"
#include "manager/transport/http_options.h"
#include "manager/transport/shard.h"

namespace mandate {

// Places each request on the open connection that its identity hashes to, as long as one has room,
// so that what one identity does to a connection hits few others. Loop thread only.
class ShardSet : private Shard::Owner {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    // Calls Pump() soon, at the loop's top level.
    virtual void WantsPump(ShardSet& set) = 0;
    // Of the connections of all pools together; false: not before the pools that waited longer.
    // Pump() is called when it is this one's turn.
    virtual bool AcquireConnection(ShardSet& set) = 0;
    virtual void ReleaseConnection() = 0;
  };

  ShardSet(const ShardParts& parts, Host& host);  // `host` outlives this
  ~ShardSet() override;

  // kResourceExhausted: too many wait already.
  absl::Status Submit(std::shared_ptr<Exchange> exchange);

  // Places what waits and clears up. Nothing else destroys a connection.
  void Pump();

  // Ends everything.
  void Shutdown(const absl::Status& status);
  void Mute();

  // Holds nothing and may be destroyed.
  bool empty() const { return shards_.empty() && waiting_.empty(); }
  // It waits for a connection that it was not granted.
  bool wants_connection() const { return wants_connection_; }
  // Gives up a connection that nothing uses; false: there is none.
  bool CloseIdle();
  void AddTo(HttpStats& stats) const;

 private:
  // Shard::Owner.
  void Changed() override { host_.WantsPump(*this); }
  void TakeBack(std::shared_ptr<Exchange> exchange) override;
  void ConnectFailed(const absl::Status& status) override;

  void Enqueue(std::shared_ptr<Exchange> exchange, bool in_front);
  void RemoveDead();
  std::shared_ptr<Exchange> TakeFirst();
  // The connection for a request of this identity; null: none has room.
  Shard* Choose(const HttpRequest& request) const;
  // How many of those that wait will fit on connections that are being made.
  size_t PromisedRoom() const;
  bool OpenConnection();

  const ShardParts parts_;
  Host& host_;
  std::map<uint64_t, std::shared_ptr<Shard>> shards_;
  uint64_t next_shard_ = 0;
  std::deque<std::shared_ptr<Exchange>> waiting_;
  bool wants_connection_ = false;
  // What the last connection turned out to be.
  bool multiplexed_ = true;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_SHARD_SET_H_
