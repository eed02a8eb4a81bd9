// One connection to an API server and the requests on it: when it takes more, what becomes of those
// that it failed, and when it goes.
#ifndef MANAGER_TRANSPORT_CONNECTION_H_
#define MANAGER_TRANSPORT_CONNECTION_H_

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

// What connections are made of. All outlive them.
struct ConnectionContext {
  Loop& loop;
  const HttpOptions& options;
  HttpStats& stats;
  const ClientCodecFactory& new_codec;
  // A connection is in doubt: what ails it may ail others.
  std::function<void()> on_doubt = {};
};

// The requests that a connection takes at once, as long as its server says nothing else.
size_t StreamCap(const HttpOptions& options);

// Lives as long as its connection: it opens one, and when that is lost, or takes no more requests,
// the connection ends with the last of them. Loop thread only; held by shared_ptr.
class Connection : private ClientCodec::Observer, public std::enable_shared_from_this<Connection> {
 public:
  // Whoever places requests. Called at the loop's top level, except Changed().
  class Owner {
   public:
    virtual ~Owner() = default;
    // There may be room, or the connection is dead: look again, later. Perhaps inside libcurl.
    virtual void Changed() = 0;
    // This request is on the connection no more.
    virtual void Left(const ActiveRequest& active) = 0;
    // This request was not served and may be sent elsewhere.
    virtual void Requeue(std::shared_ptr<ActiveRequest> active) = 0;
    // There is no connection to be had.
    virtual void ConnectFailed(const absl::Status& status) = 0;
  };

  // `owner` outlives the connection. kResourceExhausted: out of memory.
  static absl::StatusOr<std::shared_ptr<Connection>> Create(const ConnectionContext& context,
                                                            Owner& owner);
  // Nobody is told of what was still running.
  ~Connection() override;

  // Puts the request on the connection. Needs room() > 0.
  void Start(std::shared_ptr<ActiveRequest> active);
  // Ends everything on it, and itself.
  void Kill(const absl::Status& status);
  // Streams hear no more but their end.
  void Silence();
  // Others are in doubt: asks whether it is alive, unless it has just brought something.
  void Probe();

  // None while it is doubtful: a request on it ran out of time in silence, and nothing came since.
  size_t room() const { return doubtful_ ? 0 : limiter_.room(); }
  StreamLimiter::State state() const { return limiter_.state(); }
  bool dead() const { return state() == StreamLimiter::State::kDead; }
  // It connects and may soon have room.
  bool promising() const { return state() == StreamLimiter::State::kConnecting && !impatient_; }
  // It is open, and nothing uses it.
  bool idle() const { return state() == StreamLimiter::State::kOpen && active() == 0; }
  // How many requests it takes at once, as far as it is known.
  size_t cap() const { return limiter_.cap(); }
  // False once it turned out to be HTTP/1.1: one request at a time.
  bool multiplexed() const { return limiter_.multiplexed(); }
  size_t active() const { return limiter_.active(); }

 private:
  Connection(const ConnectionContext& context, Owner& owner);

  void Finish(const ClientCodec::Completion& over);
  // Gives the request back if it is sure that the server did not serve it, or safe if it did.
  bool Return(const ClientCodec::Completion& over);
  // The request is off the connection.
  void Release(ActiveRequest& active);
  // Removes requests that ended by themselves, soon.
  void ScheduleReap();
  void Reap();
  // A request on it ran out of time.
  void NoteOverdue();
  void Flush();
  // After any change, at the top level.
  void Review();
  void SetLifetime(absl::Duration duration, Loop::Task end);
  bool SendProbe();

  // ClientCodec::Observer.
  void OnSent(ActiveRequest& active) override;
  void OnHeard() override;
  void OnHead(bool multiplexed) override;
  void OnSettled(std::vector<ClientCodec::Completion> over) override;
  void OnBroken(absl::Status status) override { Kill(status); }

  const ConnectionContext context_;
  Owner& owner_;
  StreamLimiter limiter_;
  Keepalive keepalive_;
  std::vector<std::shared_ptr<ActiveRequest>> active_;  // on the codec, in order, without the probe
  std::unique_ptr<Loop::Timer> lifetime_;               // of being connecting, idle or draining
  std::shared_ptr<ActiveRequest> probing_;              // the probe under way
  const ActiveRequest* first_ = nullptr;                // the one that connected; only to compare
  bool connected_ = false;                              // ever
  bool impatient_ = false;
  bool idle_ = false;
  bool full_ = false;     // a request was refused, and none accepted since
  bool closing_ = false;  // `lifetime_` counts, since it is full or drains
  bool draining_ = false;
  bool doubtful_ = false;
  bool reap_scheduled_ = false;
  std::unique_ptr<ClientCodec> codec_;  // last: what it carries goes first
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CONNECTION_H_
