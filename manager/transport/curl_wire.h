// A connection made and driven by libcurl: one multi handle on the event loop.
#ifndef MANAGER_TRANSPORT_CURL_WIRE_H_
#define MANAGER_TRANSPORT_CURL_WIRE_H_

#include <curl/curl.h>

#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/event_loop.h"
#include "manager/transport/curl_handles.h"
#include "manager/transport/http_options.h"
#include "manager/transport/transfer.h"
#include "manager/transport/wire.h"

namespace mandate {

// Loop thread only.
class CurlWire : public Wire, private Transfer::Observer {
 public:
  // All outlive the wire. kResourceExhausted: out of memory.
  static absl::StatusOr<std::unique_ptr<Wire>> Create(EventLoop& loop, const HttpOptions& options,
                                                      HttpStats& stats, Wire::Observer& observer);
  ~CurlWire() override;

  absl::Status Add(std::shared_ptr<Exchange> exchange) override;
  bool Remove(const Exchange& exchange) override;
  bool Flush() override;
  bool gone() const override { return connected_ && sockets_.empty(); }

 private:
  CurlWire(EventLoop& loop, const HttpOptions& options, HttpStats& stats, Wire::Observer& observer);
  absl::Status SetUp();

  // Of libcurl.
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimeout(CURLM*, long milliseconds, void* self);
  void WatchSocket(curl_socket_t fd, int what);
  void Act(curl_socket_t fd, int events);
  // Tells of what is over.
  void Settle();
  WireResult ResultOf(Transfer& transfer, CURLcode code);
  std::unique_ptr<Transfer> Take(CURL* easy);

  // Transfer::Observer.
  void OnSent(const Transfer& transfer) override;
  void OnHeard() override { observer_.OnHeard(); }
  void OnHead(bool multiplexed) override;
  bool MayOpenSocket() override { return !connected_; }
  void OnSocketOpened(curl_socket_t socket) override;
  void OnSocketClosing(curl_socket_t socket) override;

  EventLoop& loop_;
  const HttpOptions& options_;
  const bool tested_;  // CurlSupport
  HttpStats& stats_;
  Wire::Observer& observer_;
  std::map<curl_socket_t, std::unique_ptr<EventLoop::FdWatch>> watches_;
  CurlMulti multi_;
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  std::unordered_map<const Exchange*, CURL*> by_exchange_;
  std::unique_ptr<Loop::Timer> timeout_;  // libcurl's
  std::set<curl_socket_t> sockets_;       // one, but while addresses are tried
  bool connected_ = false;                // ever
  bool unflushed_ = false;                // a request was given up
  bool changed_ = false;
  // Tasks hold it weakly.
  const std::shared_ptr<CurlWire*> self_ = std::make_shared<CurlWire*>(this);
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CURL_WIRE_H_
