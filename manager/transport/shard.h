// One connection to an API server and the requests on it: a libcurl multi handle.
#ifndef MANAGER_TRANSPORT_SHARD_H_
#define MANAGER_TRANSPORT_SHARD_H_

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/transport/admission.h"
#include "manager/transport/curl_handles.h"
#include "manager/transport/event_loop.h"
#include "manager/transport/exchange.h"
#include "manager/transport/http_options.h"
#include "manager/transport/liveness.h"
#include "manager/transport/transfer.h"

namespace mandate {

// Lives as long as its connection: it opens one, and when that is lost, or takes no more requests,
// the shard ends with the last of them. Loop thread only; held by shared_ptr.
class Shard : private Transfer::Observer, public std::enable_shared_from_this<Shard> {
 public:
  // Whoever places requests. Called at the loop's top level, except Changed().
  class Owner {
   public:
    virtual ~Owner() = default;
    // There may be room, or the shard is dead: look again, later. Perhaps inside libcurl.
    virtual void Changed() = 0;
    // This exchange was not served and may be sent elsewhere.
    virtual void TakeBack(std::shared_ptr<Exchange> exchange) = 0;
    // There is no connection to be had.
    virtual void ConnectFailed(const absl::Status& status) = 0;
  };

  // All outlive the shard. kResourceExhausted: out of memory.
  static absl::StatusOr<std::shared_ptr<Shard>> Create(EventLoop& loop, const HttpOptions& options,
                                                       HttpStats& stats, Owner& owner);
  // Nobody is told of what was still running.
  ~Shard() override;

  // Puts the exchange on the connection. Needs room() > 0.
  void Start(std::shared_ptr<Exchange> exchange);
  // Ends everything on it, and itself.
  void Kill(const absl::Status& status);
  // Streams hear no more but their end.
  void Mute();

  size_t room() const { return admission_.room(); }
  Admission::State state() const { return admission_.state(); }
  bool dead() const { return state() == Admission::State::kDead; }
  // It connects and may soon have room.
  bool promising() const { return state() == Admission::State::kConnecting && !impatient_; }
  // How many requests it takes at once, as far as it is known.
  size_t cap() const { return admission_.cap(); }
  // False once it turned out to be HTTP/1.1: one request at a time.
  bool multiplexed() const { return admission_.multiplexed(); }
  size_t active() const { return admission_.active(); }

 private:
  Shard(EventLoop& loop, const HttpOptions& options, HttpStats& stats, Owner& owner);
  absl::Status SetUp();

  // Of libcurl.
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimeout(CURLM*, long milliseconds, void* self);
  void WatchSocket(curl_socket_t fd, int what);
  void Act(curl_socket_t fd, int events);
  // Handles what is over, then looks at what is left.
  void Settle();
  void Finish(CURL* easy, CURLcode code);
  // Gives the exchange back if it is sure that the server did not serve it, or safe if it did.
  bool Return(const Transfer& transfer, CURLcode code);
  // Removes exchanges that ended by themselves, soon.
  void ScheduleReap();
  void Reap();
  std::unique_ptr<Transfer> Remove(CURL* easy);
  absl::Status Add(std::shared_ptr<Exchange> exchange);
  // After any change, at the top level.
  void Review();
  void SetLifetime(absl::Duration duration, Loop::Task end);
  bool SendProbe();
  // Sends what libcurl keeps back: that streams were given up.
  void FlushResets();

  // Transfer::Observer.
  void OnSent(const Transfer& transfer) override;
  void OnHeard() override { liveness_.Heard(); }
  void OnHead(bool multiplexed) override;
  bool MayOpenSocket() override;
  void OnSocketOpened(curl_socket_t socket) override;
  void OnSocketClosing(curl_socket_t socket) override;
  bool PeerIsUp() const override;

  EventLoop& loop_;
  const HttpOptions& options_;
  HttpStats& stats_;
  Owner& owner_;
  Admission admission_;
  Liveness liveness_;
  std::map<curl_socket_t, std::unique_ptr<EventLoop::FdWatch>> watches_;
  CurlMulti multi_;
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  std::unique_ptr<Loop::Timer> timeout_;   // libcurl's
  std::unique_ptr<Loop::Timer> lifetime_;  // of being connecting, idle or draining
  std::optional<HttpRequest> probe_;       // in the name of the last that used the connection
  std::shared_ptr<Exchange> probing_;      // the probe under way
  const Exchange* first_ = nullptr;        // the one that connected; only to compare
  std::set<curl_socket_t> sockets_;        // one, but while addresses are tried
  bool peer_was_up_ = false;               // when the last of them was closed
  bool connected_ = false;                 // ever
  bool impatient_ = false;
  bool idle_ = false;
  bool full_ = false;     // a request was refused, and none accepted since
  bool closing_ = false;  // `lifetime_` counts, since it is full or drains
  bool draining_ = false;
  bool unflushed_ = false;  // a stream was given up
  bool changed_ = false;    // inside libcurl
  bool reap_scheduled_ = false;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_SHARD_H_
