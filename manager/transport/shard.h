// One connection to an API server and the requests on it: when it takes more, what becomes of those
// that it failed, and when it goes.
#ifndef MANAGER_TRANSPORT_SHARD_H_
#define MANAGER_TRANSPORT_SHARD_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/transport/admission.h"
#include "manager/transport/exchange.h"
#include "manager/transport/http_options.h"
#include "manager/transport/liveness.h"
#include "manager/transport/wire.h"

namespace mandate {

// What connections are made of. All outlive them.
struct ShardParts {
  Loop& loop;
  const HttpOptions& options;
  HttpStats& stats;
  const WireFactory& new_wire;
  // A connection is in doubt: what ails it may ail others.
  std::function<void()> on_doubt = {};
};

// The requests that a connection takes at once, as long as its server says nothing else.
size_t ShardCap(const HttpOptions& options);

// Lives as long as its connection: it opens one, and when that is lost, or takes no more requests,
// the shard ends with the last of them. Loop thread only; held by shared_ptr.
class Shard : private Wire::Observer, public std::enable_shared_from_this<Shard> {
 public:
  // Whoever places requests. Called at the loop's top level, except Changed().
  class Owner {
   public:
    virtual ~Owner() = default;
    // There may be room, or the shard is dead: look again, later. Perhaps inside libcurl.
    virtual void Changed() = 0;
    // This exchange is on the connection no more.
    virtual void Left(const Exchange& exchange) = 0;
    // This exchange was not served and may be sent elsewhere.
    virtual void TakeBack(std::shared_ptr<Exchange> exchange) = 0;
    // There is no connection to be had.
    virtual void ConnectFailed(const absl::Status& status) = 0;
  };

  // `owner` outlives the shard. kResourceExhausted: out of memory.
  static absl::StatusOr<std::shared_ptr<Shard>> Create(const ShardParts& parts, Owner& owner);
  // Nobody is told of what was still running.
  ~Shard() override;

  // Puts the exchange on the connection. Needs room() > 0.
  void Start(std::shared_ptr<Exchange> exchange);
  // Ends everything on it, and itself.
  void Kill(const absl::Status& status);
  // Streams hear no more but their end.
  void Mute();
  // Others are in doubt: asks whether it is alive, unless it has just brought something.
  void Probe();

  // None while it is doubtful: a request on it ran out of time in silence, and nothing came since.
  size_t room() const { return doubtful_ ? 0 : admission_.room(); }
  Admission::State state() const { return admission_.state(); }
  bool dead() const { return state() == Admission::State::kDead; }
  // It connects and may soon have room.
  bool promising() const { return state() == Admission::State::kConnecting && !impatient_; }
  // It is open, and nothing uses it.
  bool idle() const { return state() == Admission::State::kOpen && active() == 0; }
  // How many requests it takes at once, as far as it is known.
  size_t cap() const { return admission_.cap(); }
  // False once it turned out to be HTTP/1.1: one request at a time.
  bool multiplexed() const { return admission_.multiplexed(); }
  size_t active() const { return admission_.active(); }

 private:
  Shard(const ShardParts& parts, Owner& owner);

  void Finish(const Wire::Over& over);
  // Gives the exchange back if it is sure that the server did not serve it, or safe if it did.
  bool Return(const Wire::Over& over);
  // The exchange is off the connection.
  void Release(Exchange& exchange);
  // Removes exchanges that ended by themselves, soon.
  void ScheduleReap();
  void Reap();
  // A request on it ran out of time.
  void NoteOverdue();
  void Flush();
  // After any change, at the top level.
  void Review();
  void SetLifetime(absl::Duration duration, Loop::Task end);
  bool SendProbe();

  // Wire::Observer.
  void OnSent(Exchange& exchange) override;
  void OnHeard() override;
  void OnHead(bool multiplexed) override;
  void OnSettled(std::vector<Wire::Over> over) override;
  void OnBroken(absl::Status status) override { Kill(status); }

  const ShardParts parts_;
  Owner& owner_;
  Admission admission_;
  Liveness liveness_;
  std::vector<std::shared_ptr<Exchange>> exchanges_;  // on the wire, in order, without the probe
  std::unique_ptr<Loop::Timer> lifetime_;             // of being connecting, idle or draining
  std::shared_ptr<Exchange> probing_;                 // the probe under way
  const Exchange* first_ = nullptr;                   // the one that connected; only to compare
  bool connected_ = false;                            // ever
  bool impatient_ = false;
  bool idle_ = false;
  bool full_ = false;     // a request was refused, and none accepted since
  bool closing_ = false;  // `lifetime_` counts, since it is full or drains
  bool draining_ = false;
  bool doubtful_ = false;
  bool reap_scheduled_ = false;
  std::unique_ptr<Wire> wire_;  // last: what it carries goes first
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_SHARD_H_
