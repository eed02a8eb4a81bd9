// One connection to an API server and the requests on it: when it takes more requests, what happens
// to requests that it failed, and when it is closed.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/transport/active_request.h"
#include "manager/transport/client_codec.h"
#include "manager/transport/http_options.h"
#include "manager/transport/keepalive.h"
#include "manager/transport/stream_limiter.h"

namespace mandate {

// The objects that all connections share. They outlive the connections.
struct ConnectionContext {
  Loop& loop;
  const HttpOptions& options;
  HttpStats& stats;
  const ClientCodecFactory& new_codec;
  // Called when a connection is in doubt: others may have the same fault.
  std::function<void()> on_suspect = {};
};

// The number of requests that a connection takes at once, unless its server sets a lower limit.
size_t StreamCap(const HttpOptions& options);

// Opens one connection. When that is lost, or takes no more requests, this is dead after the last
// request. Loop thread only; held by shared_ptr.
class Connection : private ClientCodec::Observer, public std::enable_shared_from_this<Connection> {
 public:
  // Places requests on connections. Called with no libcurl frame on the stack, except
  // OnCapacityChanged().
  class Owner {
   public:
    virtual ~Owner() = default;
    // There may be room, or the connection is dead: look again in a later task. This may be called
    // inside libcurl.
    virtual void OnCapacityChanged() = 0;
    // This request is not on the connection any more.
    virtual void OnRequestRemoved(const ActiveRequest& active) = 0;
    // This request was not served: send it again.
    virtual void Requeue(std::shared_ptr<ActiveRequest> active) = 0;
    // The connection could not be made.
    virtual void ConnectFailed(const absl::Status& status) = 0;
  };

  // `owner` outlives the connection. kResourceExhausted: out of memory.
  static absl::StatusOr<std::shared_ptr<Connection>> Create(const ConnectionContext& context,
                                                            Owner& owner);
  // Does not call End() of the requests that are still on the connection.
  ~Connection() override;

  // Puts the request on the connection. Needs free_capacity() > 0.
  void Start(std::shared_ptr<ActiveRequest> active);
  // Ends all requests on it, and the connection.
  void Kill(const absl::Status& status);
  // Streams get nothing more but their end.
  void SilenceStreams();
  // Another connection is in doubt: probes this one, unless it has just brought something.
  void Probe();

  // Zero while it is in doubt: a request on it timed out in silence, and nothing came since.
  size_t free_capacity() const { return is_suspect_ ? 0 : limiter_.free_capacity(); }
  StreamLimiter::State state() const { return limiter_.state(); }
  bool dead() const { return state() == StreamLimiter::State::kDead; }
  // Whether it is being made, and may soon have room.
  bool is_connecting() const { return phase_ == Phase::kConnecting && !dead(); }
  // Whether it is open without a request.
  bool idle() const { return state() == StreamLimiter::State::kOpen && active() == 0; }
  // How many requests it takes at once, as far as known.
  size_t cap() const { return limiter_.cap(); }
  // False after a response over HTTP/1.1: one request at a time.
  bool multiplexed() const { return limiter_.multiplexed(); }
  size_t active() const { return limiter_.active(); }

 private:
  // Each phase has one timer.
  enum class Phase {
    kConnecting,  // others wait for it, at most for HttpOptions::suspect_connection_after
    kBusy,        // no timer
    kFull,        // a request was refused, and none accepted since: closed after drain_timeout
    kDraining,    // it takes no more requests: closed after drain_timeout
    kIdle,        // no request: closed after idle_timeout
  };

  Connection(const ConnectionContext& context, Owner& owner);

  void Finish(const ClientCodec::Completion& completion);
  // Requeues the request if the server certainly did not serve it, or may serve it twice.
  bool Return(const ClientCodec::Completion& completion);
  // Takes the request off the connection.
  void Release(ActiveRequest& active);
  // Removes requests that ended by themselves, in a later task.
  void ScheduleReap();
  void Reap();
  // A request on it timed out.
  void NoteTimeout();
  void Flush();
  // Called after any change, with no libcurl frame on the stack.
  void Review();
  void Enter(Phase phase);
  // A request found no room.
  void NoteFull();
  void KillAfter(absl::Duration duration, const char* why);
  bool SendProbe();

  // ClientCodec::Observer.
  void OnSent(ActiveRequest& active) override;
  void OnReceived() override;
  void OnHeaders(bool multiplexed) override;
  void OnCompleted(std::vector<ClientCodec::Completion> completions) override;
  void OnConnectionError(absl::Status status) override { Kill(status); }

  const ConnectionContext context_;
  Owner& owner_;
  StreamLimiter limiter_;
  Keepalive keepalive_;
  std::vector<std::shared_ptr<ActiveRequest>> active_;  // on the codec, in order, without the probe
  std::shared_ptr<ActiveRequest> probing_;              // the pending probe
  const ActiveRequest* first_ = nullptr;                // the one that connected; only to compare
  Phase phase_ = Phase::kConnecting;
  std::unique_ptr<Loop::Timer> phase_timer_;
  bool connected_ = false;  // it was, once
  bool is_suspect_ = false;
  bool reap_scheduled_ = false;
  std::unique_ptr<ClientCodec> codec_;  // last: its requests are destroyed first
};

}  // namespace mandate
